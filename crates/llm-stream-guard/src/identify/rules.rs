//! Rules on the text of a chat template, which need no rendering.

use crate::profile::template_rules;

/// Returns the families of the heaviest rule that fits a template: the rule with the most literal
/// characters. The first text of a rule must be where the template writes the model's output, not
/// in its instructions about tools.
pub(super) fn families(template: &str) -> Vec<(&'static str, &'static [&'static str])> {
    let written = written(template);
    let fits = |rule: &[&str]| {
        rule.iter().enumerate().all(|(n, text)| match text.strip_prefix('!') {
            Some(absent) if !absent.is_empty() => !template.contains(absent),
            _ if n == 0 => written.contains(text),
            _ => template.contains(text),
        })
    };
    let weight = |rule: &[&str]| -> usize {
        let texts = rule.iter().filter(|text| text.len() == 1 || !text.starts_with('!'));
        texts.map(|text| text.chars().count()).sum()
    };
    let mut best: Vec<(&'static str, &'static [&'static str])> = Vec::new();
    let mut most = 0;
    for (name, rules) in template_rules() {
        let heaviest = rules.iter().filter(|rule| fits(rule)).max_by_key(|rule| weight(rule));
        let Some(rule) = heaviest else { continue };
        match weight(rule).cmp(&most) {
            std::cmp::Ordering::Less => continue,
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => best.clear(),
        }
        most = weight(rule);
        best.push((name, *rule));
    }
    best
}

/// Removes the blocks that depend on declared tools, except for text about calls inside them. The
/// rest is written for messages.
fn written(template: &str) -> String {
    let (mut out, mut rest) = (String::new(), template);
    // Whether each open block is kept, by its own condition.
    let mut blocks: Vec<Option<bool>> = Vec::new();
    loop {
        let (before, behind) = rest.split_once("{%").unwrap_or((rest, ""));
        if is_kept(&blocks) {
            out.push_str(before);
        }
        let Some((tag, behind)) = behind.split_once("%}") else { return out };
        let tag = tag.trim_matches(['-', '+', ' ', '\n']);
        rest = behind;
        let word = tag.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        match word {
            "if" | "for" | "macro" | "filter" | "call" => blocks.push(kept(tag)),
            "set" if !tag.contains('=') => blocks.push(kept(tag)),
            "elif" | "else" => {
                if let Some(last) = blocks.last_mut() {
                    *last = kept(tag);
                }
            }
            // Names of blocks that are counted, and of some that are not.
            "endif" | "endfor" | "endmacro" | "endfilter" | "endcall" | "endset" => {
                blocks.pop();
            }
            // Constants count, too.
            "set" if is_kept(&blocks) => out.push_str(tag),
            _ => {}
        }
    }
}

/// Whether text in these blocks is kept: the innermost block with an opinion decides.
fn is_kept(blocks: &[Option<bool>]) -> bool {
    blocks.iter().rev().find_map(|block| *block).unwrap_or(true)
}

/// Returns `true` for a block about calls, `false` for one about tools, and `None` for others.
fn kept(tag: &str) -> Option<bool> {
    let calls = tag.contains("tool_call") || tag.contains("function_call");
    let tools = tag.contains("tools") || tag.contains("functions");
    if calls { Some(true) } else { tools.then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn markup_in_tool_instructions_is_ignored() {
        let template = "{% if tools %}Write <a>.{% for tool in tools %}<b>{% endfor %}{% endif %}\
            {% for message in messages %}<c>{% if message.tool_calls %}{{ '<d>' }}{% else %}<e>\
            {% endif %}{% endfor %}{% if tools and message.tool_calls %}<f>{% endif %}";
        assert_eq!(written(template), "<c>{{ '<d>' }}<e><f>");
    }
}
