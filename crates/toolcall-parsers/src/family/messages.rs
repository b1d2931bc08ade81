//! Messages with headers from the file format.

use super::{FamilyError, Messages, Route, RouteTo, fields::Field};

type Read<T> = Result<T, FamilyError>;

pub(super) fn read(field: Field<'_>) -> Read<Messages> {
    let fields = field.table(&["header", "body", "end", "channels", "routes"])?;
    Ok(Messages {
        header: fields.required("header")?.template()?,
        body: fields.required("body")?.some(Field::token)?,
        end: fields.or_default("end", |field| field.list(Field::token))?,
        channels: fields.or_default("channels", |field| field.list(Field::token))?,
        routes: fields.or_default("routes", |field| field.list(route))?,
    })
}

fn route(field: &Field<'_>) -> Read<Route> {
    let fields = field.table(&["recipient", "channel", "body", "is"])?;
    let is =
        [("content", RouteTo::Content), ("reasoning", RouteTo::Reasoning), ("call", RouteTo::Call)];
    Ok(Route {
        recipient: fields.or_default("recipient", |field| field.some(Field::template))?,
        channel: fields.optional("channel", |field| field.token())?,
        body: fields.optional("body", |field| field.token())?,
        is: fields.required("is")?.word(&is)?,
    })
}
