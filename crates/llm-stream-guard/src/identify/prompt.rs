//! Prompts of conversations, as a checkpoint's chat template renders them.
//!
//! ```text
//! request  {"messages": [{"role": "user", "content": "Hi"}], "tools": [..]}
//! prompt   <|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n
//! ```

use std::fmt;

use serde_json::{Map, Value};

use super::{
    Checkpoint, Identification, Worker,
    job::{Job, Render},
};

/// Fields of a request, besides `chat_template_kwargs`, that templates know by the same name.
const SWITCHES: [&str; 3] = ["enable_thinking", "reasoning_effort", "thinking"];

/// A chat template that renders prompts for a server which takes them as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate {
    template: String,
    bos_token: Option<String>,
    eos_token: Option<String>,
    string_arguments: bool,
}

/// The reason why no prompt was rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptError(String);

impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PromptError {}

impl PromptTemplate {
    /// The fields of a request from which its prompt is rendered.
    pub const FIELDS: [&'static str; 7] = [
        "chat_template_kwargs",
        "continue_final_message",
        "enable_thinking",
        "messages",
        "reasoning_effort",
        "thinking",
        "tools",
    ];

    /// Creates the template of a checkpoint with this identification. Returns `None` if the
    /// checkpoint has no template in Jinja, or one that writes the date, which is not known here.
    #[must_use]
    pub fn new(checkpoint: &Checkpoint, found: &Identification) -> Option<Self> {
        let template = checkpoint.template.clone()?;
        (!template.contains("strftime_now")).then(|| Self {
            template,
            bos_token: checkpoint.bos_token.clone(),
            eos_token: checkpoint.eos_token.clone(),
            string_arguments: found.string_arguments == Some(true),
        })
    }

    fn render(&self, request: &Value, render: Render<'_>) -> Result<String, PromptError> {
        let context = Value::from(self.context(request)?).to_string();
        let job = Job { template: self.template.clone(), contexts: vec![context] };
        let prompt = render(&job).pop().unwrap_or_else(|| Err("nothing was rendered".to_owned()));
        let prompt = prompt.map_err(|problem| error(&format!("its template: {problem}")))?;
        // Servers write the token before every text themselves.
        let bos = self.bos_token.as_deref().filter(|bos| !bos.is_empty());
        Ok(match bos.and_then(|bos| prompt.strip_prefix(bos)) {
            Some(after) => after.to_owned(),
            None => prompt,
        })
    }

    /// Returns the variables of the template.
    fn context(&self, request: &Value) -> Result<Map<String, Value>, PromptError> {
        if request.get("continue_final_message") == Some(&true.into()) {
            return Err(error("it continues its last message"));
        }
        let kwargs = request.get("chat_template_kwargs").and_then(Value::as_object);
        let mut context = kwargs.cloned().unwrap_or_default();
        for name in SWITCHES {
            if let Some(value) = request.get(name).filter(|it| it.is_string() || it.is_boolean()) {
                context.entry(name).or_insert_with(|| value.clone());
            }
        }
        for (name, token) in [("bos_token", &self.bos_token), ("eos_token", &self.eos_token)] {
            context.insert(name.to_owned(), token.clone().unwrap_or_default().into());
        }
        let messages = request.get("messages").and_then(Value::as_array);
        let messages = messages.ok_or_else(|| error("it has no list of messages"))?;
        let messages = messages.iter().map(|message| self.message(message));
        context.insert("messages".into(), messages.collect::<Result<Vec<_>, _>>()?.into());
        let tools = request.get("tools").and_then(Value::as_array).filter(|it| !it.is_empty());
        if let Some(tools) = tools {
            context.insert("tools".into(), tools.clone().into());
        }
        context.insert("add_generation_prompt".into(), true.into());
        Ok(context)
    }

    /// Returns a message in the form that templates expect.
    fn message(&self, message: &Value) -> Result<Value, PromptError> {
        let Value::Object(mut message) = message.clone() else {
            return Err(error("a message is not an object"));
        };
        if message.get("role") == Some(&"developer".into()) {
            message.insert("role".into(), "system".into());
        }
        if let Some(Value::Array(parts)) = message.get("content") {
            let text = parts.iter().map(|part| {
                let is_text = part.get("type") == Some(&"text".into());
                part.get("text").and_then(Value::as_str).filter(|_| is_text)
            });
            let text: Option<String> = text.collect();
            let text = text.ok_or_else(|| error("a message has parts other than text"))?;
            message.insert("content".into(), text.into());
        }
        if let Some(reasoning) = message.get("reasoning").filter(|it| it.is_string()).cloned() {
            message.entry("reasoning_content").or_insert(reasoning);
        }
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for call in calls.into_iter().flatten().filter(|_| !self.string_arguments) {
            if let Some(arguments) = call.pointer_mut("/function/arguments")
                && let Some(text) = arguments.as_str()
                && let Ok(read) = serde_json::from_str::<Value>(text)
            {
                *arguments = read;
            }
        }
        Ok(message.into())
    }
}

impl Worker {
    /// Renders the prompt of a chat completion: its messages, its tools, and what it says about
    /// reasoning. Another process renders it, and the token before every text is left out.
    ///
    /// ```no_run
    /// use llm_stream_guard::{Checkpoint, PromptTemplate, Worker};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let worker = Worker::new("llm-stream-guard").args(["identify", "--worker"]);
    /// let checkpoint = Checkpoint::read("models/downloaded".as_ref())?;
    /// let template = PromptTemplate::new(&checkpoint, &worker.identify(&checkpoint));
    /// let request = serde_json::json!({"messages": [{"role": "user", "content": "Hi"}]});
    /// let prompt = worker.prompt(&template.ok_or("no template")?, &request)?;
    /// # let _ = prompt;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PromptError`]: the request has content other than text or continues its last message. Or
    /// the template refuses it, or needs too much time or memory.
    pub fn prompt(
        &self,
        template: &PromptTemplate,
        request: &Value,
    ) -> Result<String, PromptError> {
        template.render(request, &|job| self.render(job))
    }
}

fn error(reason: &str) -> PromptError {
    PromptError(reason.to_owned())
}
