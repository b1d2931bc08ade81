//! Checks of values that are well-formed but invalid.

use super::{
    Config, Endpoint, EndpointName, FamilyName, Model, Models, ProxyLimits, Record, ToolsIn,
};

/// The number of copies of a body in memory: as received, as fields, and as sent.
pub(crate) const COPIES: usize = 3;

/// The name of the server that [`Config::upstream`] is the address of.
pub(crate) const DEFAULT: &str = "default";

const WITHOUT_CREDENTIALS: &str = "expected an address without a name and password: put the key of \
                                   the server into an environment variable, named by `key_env`";

/// An invalid value of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadValue {
    /// The names of the tables around the value, and its own.
    pub(crate) path: Vec<String>,
    /// The valid values, such as `expected at least 1`.
    pub(crate) expected: String,
}

/// A configuration, or a part of one with its own file.
pub(crate) trait Checked {
    /// Reports the first invalid value.
    fn check(&self) -> Result<(), BadValue>;
}

impl BadValue {
    pub(super) fn new(path: &[&str], expected: impl Into<String>) -> Self {
        let path = path.iter().map(|name| (*name).to_owned()).collect();
        Self { path, expected: expected.into() }
    }
}

impl Checked for Config {
    fn check(&self) -> Result<(), BadValue> {
        limits(&self.limits)?;
        if let Some(record) = &self.record {
            self::record(record)?;
        }
        let Self { upstream, server, ca, key_env, upstreams, .. } = self;
        let (ca, key_env) = (ca.clone(), key_env.clone());
        let own = Endpoint { url: upstream.clone(), server: *server, ca, key_env };
        endpoint(&own, &[], "upstream")?;
        for (name, other) in upstreams {
            if name.trim().is_empty() || name.contains("://") || name == DEFAULT {
                let expected = format!("expected a name other than `{DEFAULT}`, and no address");
                return Err(BadValue::new(&["upstreams", name], expected));
            }
            endpoint(other, &["upstreams", name], "url")?;
        }
        models(&self.models, &["models"])?;
        self.models.iter().try_for_each(|(pattern, model)| match &model.upstream {
            Some(EndpointName::Named(name)) if !upstreams.contains_key(name) => {
                let known: Vec<_> = upstreams.keys().map(|name| format!("`{name}`")).collect();
                let known = match known.is_empty() {
                    true => String::new(),
                    false => format!(" (there are {})", known.join(", ")),
                };
                let expected = format!(
                    "expected an address, or the name of a table in `[upstreams]`{known}, found `{name}`"
                );
                Err(BadValue::new(&["models", pattern, "upstream"], expected))
            }
            _ => Ok(()),
        })
    }
}

impl Checked for Models {
    fn check(&self) -> Result<(), BadValue> {
        models(self, &[])
    }
}

fn limits(limits: &ProxyLimits) -> Result<(), BadValue> {
    let ProxyLimits { body, head, answer, choices, bodies } = *limits;
    let amounts = [("body", body), ("answer", answer), ("choices", choices), ("bodies", bodies)];
    if let Some((name, _)) = amounts.into_iter().find(|(_, amount)| *amount == 0) {
        return Err(BadValue::new(&["limits", name], "expected at least 1"));
    }
    let least = ProxyLimits::LEAST_HEAD;
    if head < least {
        return Err(BadValue::new(&["limits", "head"], format!("expected at least {least}")));
    }
    let least = body.saturating_mul(COPIES);
    if bodies < least {
        let expected = format!(
            "expected at least {least}, {COPIES} times `limits.body`: a body of that length is never read otherwise"
        );
        return Err(BadValue::new(&["limits", "bodies"], expected));
    }
    Ok(())
}

fn record(record: &Record) -> Result<(), BadValue> {
    let Record { dir, most, each } = record;
    if dir.as_os_str().is_empty() {
        return Err(BadValue::new(&["record", "dir"], "expected the name of a directory"));
    }
    if *each == 0 {
        return Err(BadValue::new(&["record", "each"], "expected at least 1"));
    }
    if *most == 0 {
        return Err(BadValue::new(&["record", "most"], "expected at least 1"));
    }
    Ok(())
}

fn endpoint(endpoint: &Endpoint, at: &[&str], url: &str) -> Result<(), BadValue> {
    let bad = |name: &str, expected: &str| Err(BadValue::new(&[at, &[name]].concat(), expected));
    if endpoint.url.has_credentials() {
        return bad(url, WITHOUT_CREDENTIALS);
    }
    if endpoint.ca.as_ref().is_some_and(|ca| ca.as_os_str().is_empty()) {
        return bad("ca", "expected the file of a certificate (PEM)");
    }
    let is_name = |name: &String| !name.trim().is_empty() && !name.contains(['=', '\0', ' ']);
    if endpoint.key_env.as_ref().is_some_and(|name| !is_name(name)) {
        return bad("key_env", "expected the name of an environment variable");
    }
    Ok(())
}

fn models(models: &Models, at: &[&str]) -> Result<(), BadValue> {
    for (pattern, model) in models {
        let bad = |name: &[&str], expected: &str| {
            Err(BadValue::new(&[at, &[pattern.as_str()], name].concat(), expected))
        };
        let Model { profile, remap, tools, checkpoint, upstream, model, settings } = model;
        if pattern.is_empty() || pattern.trim() != pattern {
            return bad(
                &[],
                "expected a model's id or a pattern such as `team-*`, without blanks around it",
            );
        }
        if profile.is_none() && checkpoint.is_none() && upstream.is_none() && model.is_none() {
            let expected = "expected at least one of `profile`, `checkpoint`, `upstream`, `model`";
            return bad(&[], expected);
        }
        let of_table = [remap.map(|_| "remap"), tools.map(|_| "tools")];
        let of_family = of_table.into_iter().flatten().chain(settings.set_names()).next();
        if let Some(name) = of_family.filter(|_| profile.is_none()) {
            return bad(&[name], "expected `profile` beside it");
        }
        let writes_calls = |it: &FamilyName| it.profile().grammar().is_ok_and(|it| it.is_some());
        if *tools == Some(ToolsIn::Prompt) && !profile.as_ref().is_some_and(writes_calls) {
            return bad(&["tools"], "expected a `profile` with calls, such as `json_in_tags`");
        }
        if matches!(upstream, Some(EndpointName::At(url)) if url.has_credentials()) {
            return bad(&["upstream"], WITHOUT_CREDENTIALS);
        }
        if model.as_ref().is_some_and(|id| id.trim().is_empty()) {
            return bad(&["model"], "expected the id of a model");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use llm_stream_guard::AddedTokens;

    use super::super::{CheckpointTokens, Config, Endpoint, Models, Record, place::parse};

    /// Keys, each with a line that sets it and the expected error.
    const ROWS: &[(&str, &str, &str)] = &[
        ("listen", "listen = '127.0.0.1:99999'", "a port up to 65535"),
        ("listen", "listen = 'localhost:80'", "such as `127.0.0.1:8080`"),
        ("listen", "listen = 8080", "expected a string"),
        ("metrics_listen", "metrics_listen = '127.0.0.1:99999'", "a port up to 65535"),
        ("upstream", "upstream = 'http://a:99999'", "expected a port from 1 to 65535"),
        ("upstream", "upstream = 'http://a:0'", "expected a port from 1 to 65535"),
        ("upstream", "upstream = 'http://a:'", "expected a port from 1 to 65535"),
        ("upstream", "upstream = 'http://a:x'", "expected a port from 1 to 65535"),
        ("upstream", "upstream = 'http://:80'", "expected an address such as"),
        ("upstream", "upstream = 'http://'", "expected an address such as"),
        ("upstream", "upstream = 'a:80'", "expected an address such as"),
        ("upstream", "upstream = 'ftp://a'", "expected an address such as"),
        ("upstream", "upstream = 'http://a?b'", "expected an address such as"),
        ("upstream", "upstream = 'http://a#b'", "expected an address such as"),
        ("upstream", "upstream = 'http://me:secret@a'", "without a name and password"),
        ("upstream", "upstream = 'http://me:secret@a:99999'", "expected a port from 1 to 65535"),
        ("upstream", "upstream = ''", "expected an address such as"),
        ("ca", "ca = ''", "expected the file of a certificate"),
        ("key_env", "key_env = ''", "expected the name of an environment variable"),
        ("key_env", "key_env = 'A=B'", "expected the name of an environment variable"),
        ("upstreams.b.url", "[upstreams.b]\nurl = 'http://a:99999'", "a port from 1 to 65535"),
        ("upstreams.b.url", "[upstreams.b]\nurl = 'http://me:secret@a'", "without a name and"),
        ("upstreams.b.server", "[upstreams.b]\nurl = 'http://a'\nserver = 'x'", "one of `auto`"),
        ("upstreams.b.ca", "[upstreams.b]\nurl = 'http://a'\nca = ''", "file of a certificate"),
        (
            "upstreams.b.key_env",
            "[upstreams.b]\nurl = 'http://a'\nkey_env = 'a b'",
            "expected the name",
        ),
        ("server", "server = 'tgi'", "expected one of `auto`, `vllm`"),
        ("bare_end", "bare_end = 'x'", "expected `fail` or `accept`"),
        ("profile", "profile = 'qwen9000'", "unknown profile `qwen9000`"),
        ("profile", "profile = ''", "unknown profile"),
        ("checkpoint", "checkpoint = 'no/such'", "no/such: "),
        ("checkpoint", "checkpoint = 'src'", "src: no file lists added tokens"),
        ("unknown_model", "unknown_model = 'x'", "expected `pass` or `refuse`"),
        ("unsupported_tools", "unsupported_tools = 'x'", "expected `drop` or `refuse`"),
        ("tool_grammar", "tool_grammar = 'x'", "expected `send` or `off`"),
        ("completions", "completions = 'x'", "expected `pass` or `guard`"),
        ("output.reasoning", "[output]\nreasoning = 'x'", "expected `reasoning_content` or"),
        ("output.calls", "[output]\ncalls = 'x'", "expected one of `streamed`"),
        ("output.broken_calls", "[output]\nbroken_calls = 'x'", "expected one of `auto`"),
        ("output.reasoning_tokens", "[output]\nreasoning_tokens = 'x'", "expected `counted` or"),
        ("timeouts.connect", "[timeouts]\nconnect = '0s'", "expected a length of time such as"),
        ("timeouts.first_byte", "[timeouts]\nfirst_byte = '1'", "expected a length of time"),
        ("timeouts.idle", "[timeouts]\nidle = '-1s'", "expected a length of time"),
        ("timeouts.head", "[timeouts]\nhead = '1.5s'", "expected a length of time"),
        ("timeouts.body", "[timeouts]\nbody = ''", "expected a length of time"),
        ("timeouts.write", "[timeouts]\nwrite = 's'", "expected a length of time"),
        ("timeouts.keep_alive", "[timeouts]\nkeep_alive = '0ms'", "expected a length of time"),
        ("timeouts.drain", "[timeouts]\ndrain = '0s'", "expected a length of time"),
        (
            "timeouts.shutdown",
            "[timeouts]\nshutdown = 30",
            "expected a length of time with its unit",
        ),
        ("limits.body", "[limits]\nbody = 0", "expected at least 1"),
        ("limits.body", "[limits]\nbody = -1", "expected a whole number, at least 1"),
        ("limits.body", "[limits]\nbody = 1.5", "expected a whole number, at least 1"),
        ("limits.body", "[limits]\nbody = '64M'", "expected a whole number, at least 1"),
        ("limits.head", "[limits]\nhead = 100", "expected at least 8192"),
        ("limits.head", "[limits]\nhead = 5000000000", "expected a smaller number"),
        ("limits.answer", "[limits]\nanswer = 0", "expected at least 1"),
        ("limits.choices", "[limits]\nchoices = 0", "expected at least 1"),
        ("limits.bodies", "[limits]\nbodies = 0", "expected at least 1"),
        ("limits.bodies", "[limits]\nbodies = 1000", "times `limits.body`"),
        ("record.dir", "[record]\ndir = ''", "expected the name of a directory"),
        ("record.each", "[record]\ndir = 'a'\neach = 0", "expected at least 1"),
        ("record.most", "[record]\ndir = 'a'\nmost = 0", "expected at least 1"),
        ("models.PATTERN.profile", "[models]\nPATTERN = { profile = 'x9' }", "unknown profile"),
        (
            "models.PATTERN.tools",
            "[models]\nPATTERN = { profile = 'qwen3', tools = 'x' }",
            "expected `request` or `prompt`",
        ),
        (
            "models.PATTERN.tools",
            "[models]\nPATTERN = { profile = 'thinking', tools = 'prompt' }",
            "a `profile` with calls, such as `json_in_tags`",
        ),
        (
            "models.PATTERN.remap",
            "[models]\nPATTERN = { profile = 'qwen3', remap = 'x' }",
            "expected `hermes` or",
        ),
        (
            "models.PATTERN.start",
            "[models]\nPATTERN = { profile = 'qwen3', start = 'x' }",
            "expected one of `content`, `reasoning`",
        ),
        (
            "models.PATTERN.whitespace",
            "[models]\nPATTERN = { profile = 'qwen3', whitespace = 'x' }",
            "`before_calls`, `reasoning_end`, found `x`",
        ),
        (
            "models.PATTERN.token_suffix",
            "[models]\nPATTERN = { profile = 'qwen3', token_suffix = 7 }",
            "expected a string",
        ),
        (
            "models.PATTERN.ids",
            "[models]\nPATTERN = { profile = 'qwen3', ids = 'x' }",
            "expected one of `unique`",
        ),
        (
            "models.PATTERN.in_code",
            "[models]\nPATTERN = { profile = 'qwen3', in_code = 'x' }",
            "expected one of `run`",
        ),
        (
            "models.PATTERN.argument_types",
            "[models]\nPATTERN = { profile = 'qwen3', argument_types = 'x' }",
            "expected one of `written`",
        ),
        (
            "models.PATTERN.delivery",
            "[models]\nPATTERN = { profile = 'qwen3', delivery = 'x' }",
            "expected one of `streaming`",
        ),
        (
            "models.PATTERN.upstream",
            "[upstreams.b]\nurl = 'http://a'\n[models]\nPATTERN = { upstream = 'c' }",
            "(there are `b`), found `c`",
        ),
        (
            "models.PATTERN.upstream",
            "[models]\nPATTERN = { upstream = '' }",
            "expected an address, or the name",
        ),
        (
            "models.PATTERN.upstream",
            "[models]\nPATTERN = { upstream = 'http://' }",
            "expected an address such as",
        ),
        (
            "models.PATTERN.upstream",
            "[models]\nPATTERN = { upstream = 'http://me:secret@a' }",
            "without a name",
        ),
        (
            "models.PATTERN.checkpoint",
            "[models]\nPATTERN = { checkpoint = 'src' }",
            "src: no file lists added tokens",
        ),
        (
            "models.PATTERN.model",
            "[models]\nPATTERN = { model = ' ' }",
            "expected the id of a model",
        ),
        (
            "models.PATTERN.remap",
            "[models]\nPATTERN = { model = 'a', remap = 'hermes' }",
            "expected `profile` beside it",
        ),
    ];

    /// Keys whose fault names a table, since they are missing, new, or patterns themselves.
    const OTHERS: &[(&str, &str, &str)] = &[
        ("other", "other = 1", "unknown field `other`, expected one of `listen`"),
        ("timeouts.slow", "[timeouts]\nslow = 1", "unknown field `slow`, expected one of"),
        ("limits.slow", "[limits]\nslow = 1", "unknown field `slow`, expected one of"),
        ("output.slow", "[output]\nslow = 1", "unknown field `slow`, expected one of"),
        ("record.slow", "[record]\ndir = 'a'\nslow = 1", "unknown field `slow`, expected one of"),
        ("upstreams.b.slow", "[upstreams.b]\nslow = 1", "unknown field `slow`, expected one of"),
        (
            "upstreams.default",
            "[upstreams]\ndefault = { url = 'http://a' }",
            "expected a name other than",
        ),
        ("models.a", "[models]\na = { profile = 'qwen3', slow = 1 }", "unknown field `slow`"),
        ("models.a", "[models]\na = {}", "expected at least one of `profile`, `checkpoint`"),
        ("models.a", "[models]\na = 1", "expected a family's name, or a table"),
        ("models.", "[models]\n'' = 'qwen3'", "expected a model's id or a pattern"),
        ("models. ", "[models]\n' ' = 'qwen3'", "expected a model's id or a pattern"),
        ("models. a", "[models]\n' a' = 'qwen3'", "expected a model's id or a pattern"),
    ];

    #[test]
    fn bad_values_are_refused_with_place_field_and_remedy() {
        for (key, text, remedy) in ROWS.iter().chain(OTHERS) {
            let text = format!("# A comment.\n{text}\n");
            let error = parse::<Config>(&text).expect_err(&text);
            let line = text.lines().count();
            assert!(error.starts_with(&format!("line {line}, column ")), "{text}: {error}");
            assert!(error.contains(&format!("`{key}")), "{text}: {error}");
            assert!(error.contains(remedy), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
        let error = parse::<Models>("'' = 'qwen3'\n").unwrap_err();
        assert!(error.starts_with("line 1, column 1: expected a model's id"), "{error}");
    }

    #[test]
    fn every_configuration_key_has_a_rejected_value() {
        let mut config = Config { ca: Some("a".into()), ..Config::default() };
        let checkpoint = || Some(CheckpointTokens::of("a", AddedTokens::default()));
        config.checkpoint = checkpoint();
        config.key_env = Some("KEY".into());
        config.metrics_listen = Some(config.listen);
        let (url, ca, key_env) = (config.upstream.clone(), config.ca.clone(), Some("K".into()));
        let other = Endpoint { ca, key_env, ..Endpoint::at(url) };
        config.upstreams.insert("b".into(), other);
        config.record = Some(Record::to("a"));
        let whole = "PATTERN = { profile = 'qwen3', remap = 'hermes', tools = 'prompt', upstream = 'b', model = 'm', start = 'content', whitespace = 'trim', token_suffix = ':x', ids = 'unique', delivery = 'atomic', in_code = 'text', argument_types = 'declared' }";
        config.models = parse(whole).unwrap();
        config.models.values_mut().for_each(|model| model.checkpoint = checkpoint());
        let known: BTreeSet<String> = ROWS.iter().map(|(key, ..)| (*key).to_owned()).collect();
        let mut keys = BTreeSet::new();
        let whole: toml::Table = config.to_toml().parse().unwrap();
        leaves("", &whole, &mut keys);
        assert_eq!(keys, known);
    }

    fn leaves(at: &str, table: &toml::Table, keys: &mut BTreeSet<String>) {
        for (name, value) in table {
            match value {
                toml::Value::Table(inner) => leaves(&format!("{at}{name}."), inner, keys),
                _ => drop(keys.insert(format!("{at}{name}"))),
            }
        }
    }
}
