//! Advice for findings in the words of the proxy's configuration.

/// Returns the lines of a configuration of `serve` that help against a finding of this kind. The
/// text was read as `family`, and the stream ended with `end`. The result is empty if no setting
/// helps.
#[must_use]
pub fn setting_of_serve(kind: &str, family: &str, end: &str) -> String {
    match kind {
        "wrong_family" | "foreign_markup" => format!(
            "under `[models]`, `\"ID\" = \"{family}\"`, where ID is the model's id in requests; or \
             `profile = \"{family}\"` for all models"
        ),
        "prompt_opened_reasoning" => format!(
            "under `[models]`, `\"ID\" = {{ profile = \"{family}\", start = \"reasoning\" }}`, where ID is \
             the model's id in requests"
        ),
        "no_answer" => format!(
            "if the answer was taken for reasoning: under `[models]`, `\"ID\" = {{ profile = \
             \"{family}\", start = \"content\" }}`, where ID is the model's id in requests"
        ),
        "stripped_markers" => {
            "`server = \"vllm\"`, or the kind of server that it is: the proxy then \
                               asks for special tokens"
                .to_owned()
        }
        "native_fields" => "`server = \"vllm\"`, or the kind of server that it is: the proxy then \
                            asks for raw text"
            .to_owned(),
        "truncated_call" if end == "aborted" => {
            "`bare_end = \"accept\"`, if this server never says \
                                                 that an answer is over"
                .to_owned()
        }
        "truncated_call" | "malformed_call" => {
            "under `[output]`, `broken_calls = \"drop\"` keeps such \
                                                calls from clients"
                .to_owned()
        }
        _ => String::new(),
    }
}
