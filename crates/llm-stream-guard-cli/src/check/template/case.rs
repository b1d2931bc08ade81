//! A case with a template: read, and run at every cut.

use guard_laws::TemplateMachine;
use llm_stream_guard::{Guard, GuardBuilder, Profile};
use response_templates::{
    JsonObject, JsonTree, NoAnchor, ResponseTemplate, ResponseTemplateError, TemplateParser,
    TemplateSettings,
};
use stream_laws::{
    Cut, CutPlan, RunRecord, StreamMachine as _,
    vector::{CutInput, Failure, Mismatch},
};
use toolcall_parsers::Tools;

use super::view::{Seen, View};

/// A case whose wire is read by its own template.
#[derive(Debug, Clone)]
pub(crate) struct TemplateCase {
    /// Id, unique in its file.
    pub(crate) id: String,
    template: JsonTree,
    prefix: String,
    tools: Tools,
    wire: String,
    expected: Expected,
}

/// The expected result of a case.
#[derive(Debug, Clone)]
enum Expected {
    /// This message, with these regions.
    View(Box<View>),
    /// A message that is not complete, or a region that is malformed.
    Failure,
    /// A template that is refused.
    Refused,
    /// A template that is refused, or a message that fails.
    RefusedOrFailure,
    /// A message without fault.
    Fine,
}

/// The fields a case may have.
const FIELDS: [&str; 12] = [
    "id",
    "shape",
    "template",
    "prefix",
    "tools",
    "wire",
    "expect",
    "ref",
    "note",
    "fails",
    "kind",
    "ref_exception",
];

impl TemplateCase {
    /// Reads a line. Returns `None` for other cases: this kind is an object with a template, or
    /// without a family if `template` is given.
    ///
    /// # Errors
    /// The reason why the case is invalid.
    pub(crate) fn read(line: &str, template: Option<&JsonTree>) -> Option<Result<Self, String>> {
        let case = JsonTree::from_json(line).ok()?;
        let object = case.as_object()?;
        let given = template.filter(|_| object.get("family").is_none());
        let template = object.get("template").or(given)?;
        Some(Self::of(object, template))
    }

    fn of(object: &JsonObject, template: &JsonTree) -> Result<Self, String> {
        if let Some((field, _)) = object.iter().find(|(field, _)| !FIELDS.contains(field)) {
            return Err(format!("`{field}`: unknown field"));
        }
        let text = |field: &str| match object.get(field) {
            None | Some(JsonTree::Null) => Ok(None),
            Some(JsonTree::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("`{field}`: expected a string")),
        };
        let required = |field: &str| text(field)?.ok_or(format!("`{field}`: missing"));
        let expected = match (object.get("expect"), text("fails")?.as_deref()) {
            (Some(expect), None) => expectation(expect)?,
            (None, Some("load")) => Expected::Refused,
            (None, Some("parse")) => Expected::RefusedOrFailure,
            (None, Some("none")) => Expected::Fine,
            _ => return Err("expected `expect`, or `fails`: load, parse or none".to_owned()),
        };
        Ok(Self {
            id: required("id")?,
            template: template.clone(),
            prefix: text("prefix")?.unwrap_or_default(),
            tools: tools(object.get("tools"))?,
            wire: required("wire")?,
            expected,
        })
    }

    /// Runs the case at every cut of `plan`. Each cut must give the expected result and the same
    /// events.
    pub(crate) fn run(&self, plan: CutPlan) -> Result<(), Failure> {
        let template = match self.load() {
            Ok(Some(template)) => template,
            Ok(None) => return Ok(()),
            Err(problem) => {
                let field = format!("template: {problem}");
                let mismatch = Mismatch { field, expected: String::new(), got: String::new() };
                return Err(self.failure(None, mismatch));
            }
        };
        let parser = TemplateParser::new(&template).settings(settings()).tools(self.tools.clone());
        let parser = if self.prefix.is_empty() { parser } else { parser.prompt(&self.prefix) };
        let machine = TemplateMachine::new(parser);
        let whole = self.judge(&machine, Cut::Whole, None)?;
        plan.text(&self.wire).try_for_each(|cut| self.judge(&machine, cut, Some(&whole)).map(drop))
    }

    /// Loads the template. Returns `None` if it is refused and the case expects that.
    fn load(&self) -> Result<Option<ResponseTemplate>, String> {
        match (ResponseTemplate::from_value(&self.template), &self.expected) {
            (Ok(_), Expected::Refused) => Err("loaded, and should be refused".to_owned()),
            (Ok(template), _) => Ok(Some(template)),
            (Err(_), Expected::Refused | Expected::RefusedOrFailure) => Ok(None),
            // The reference implementation reports this error only when it reads a message.
            (Err(ResponseTemplateError { kind, .. }), Expected::Failure) if kind.is_late() => {
                Ok(None)
            }
            (Err(error), _) => Err(format!("refused: {error}")),
        }
    }

    /// Returns the builder of a guard for the case, and the wire.
    pub(crate) fn builder(&self) -> Option<(GuardBuilder, &str)> {
        let template = ResponseTemplate::from_value(&self.template).ok()?;
        let mut profile = Profile::named("none");
        profile.response_template = Some(template);
        profile.template_settings = settings();
        let builder = Guard::builder(&profile).tools(self.tools.clone());
        let prompt = Some(&self.prefix).filter(|prefix| !prefix.is_empty());
        Some((prompt.into_iter().fold(builder, |builder, it| builder.prompt(it)), &self.wire))
    }

    fn judge(
        &self,
        machine: &TemplateMachine,
        cut: Cut,
        whole: Option<&RunRecord>,
    ) -> Result<RunRecord, Failure> {
        let mut machine = machine.clone();
        let mut record = RunRecord::default();
        stream_laws::push_all(&mut machine, &self.wire, cut, &mut record);
        machine.finish(&mut record);
        let fail = |field: &str, expected: &str, got: &str| {
            let (field, expected, got) = (field.to_owned(), expected.to_owned(), got.to_owned());
            self.failure(Some(cut.into()), Mismatch { field, expected, got })
        };
        let record = match record.coalesced() {
            Ok(record) => record,
            Err(empty) => return Err(fail("events", "no empty event", &empty.to_string())),
        };
        if let Some(difference) = whole.and_then(|whole| stream_laws::difference(whole, &record)) {
            return Err(fail("events", "those of the whole wire", &difference));
        }
        let parser = &machine.0;
        let seen = Seen::of(parser);
        match &self.expected {
            Expected::View(view) => view
                .check(&seen)
                .and_then(|()| seen.check_events(&record))
                .map_err(|[field, expected, got]| fail(&field, &expected, &got))?,
            Expected::Fine if seen.failed() => return Err(fail("message", "no fault", "a fault")),
            Expected::Failure | Expected::RefusedOrFailure if !seen.failed() => {
                return Err(fail("message", "a fault", "none"));
            }
            _ => {}
        }
        Ok(record)
    }

    fn failure(&self, cut: Option<CutInput>, mismatch: Mismatch) -> Failure {
        Failure { id: self.id.clone(), cut, mismatch: Box::new(mismatch) }
    }
}

/// Returns settings under which the parser reads like the reference implementation.
fn settings() -> TemplateSettings {
    let mut settings = TemplateSettings::default();
    settings.no_anchor = NoAnchor::Read;
    settings.keep_regions = true;
    settings
}

fn tools(tools: Option<&JsonTree>) -> Result<Tools, String> {
    let Some(tools) = tools else { return Ok(Tools::none()) };
    let value = serde_json::from_str(&tools.to_string()).map_err(|error| error.to_string())?;
    Tools::from_json(&value).map_err(|error| format!("tools: {error}"))
}

/// Reads the expectation: a view, or a view without malformed regions.
fn expectation(expect: &JsonTree) -> Result<Expected, String> {
    let none = JsonObject::default();
    let object = expect.as_object().unwrap_or(&none);
    match (object.get("error"), object.get("lenient")) {
        (None, None) => View::read(expect).map(Box::new).map(Expected::View),
        (_, Some(lenient)) => View::read(lenient).map(Box::new).map(Expected::View),
        (Some(_), None) => Ok(Expected::Failure),
    }
}
