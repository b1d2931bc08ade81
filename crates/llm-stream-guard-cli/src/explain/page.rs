//! An explanation as a page that needs nothing else.

use super::Report;

/// The page without its data.
const PAGE: &str = include_str!("page.html");
/// Where the data goes.
const PLACE: &str = "\"__REPORT__\"";

/// The page with `report` in it.
///
/// # Errors
/// The report cannot be written as JSON, which no report does.
pub fn page(report: &Report) -> Result<String, serde_json::Error> {
    // No text of a model may end the script it stands in, or begin a comment there.
    let data = serde_json::to_string(report)?.replace('<', "\\u003c");
    let (head, tail) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
    Ok([head, &data, tail].concat())
}
