//! The columns of a batch's messages, filled by events.

use std::{fmt::Write as _, sync::Arc};

use arrow_array::{
    Array as _, ArrayRef, GenericStringArray, ListArray, OffsetSizeTrait, StructArray, UInt32Array,
    UInt64Array,
    builder::{BooleanBuilder, GenericStringBuilder, StringBuilder, UInt32Builder, UInt64Builder},
};
use arrow_buffer::{NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Fields};
use llm_stream_guard::{Diagnostic, Event, MessageEnd, Outcome, RowError, Sink, TokenRole};

/// The error for a column that is too long for its offsets.
#[derive(Debug)]
pub struct ColumnOverflow(String);

impl std::fmt::Display for ColumnOverflow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; pass `large_string`, or smaller batches", self.0)
    }
}

impl From<ArrowError> for ColumnOverflow {
    fn from(error: ArrowError) -> Self {
        Self(error.to_string())
    }
}

/// A sink that fills columns with the events of one row after the other.
#[derive(Debug)]
pub struct Columns<O: OffsetSizeTrait> {
    content: Texts<O>,
    reasoning: Texts<O>,
    calls: Calls<O>,
    /// The worst outcome of the row's calls so far.
    worst: Outcome,
    outcome: StringBuilder,
    diagnostics: Diagnostics,
    ends: Ends,
    /// The roles of tokens, if the rows are lists of tokens.
    roles: Option<RoleNames>,
    nulls: NullBufferBuilder,
}

/// How the rows ended, or why not.
#[derive(Debug, Default)]
struct Ends {
    finish: StringBuilder,
    open: StringBuilder,
    error: StringBuilder,
}

impl Ends {
    fn add(&mut self, read: Option<&Result<MessageEnd, RowError>>) {
        let end = read.and_then(|read| read.as_ref().ok());
        self.finish.append_option(end.map(|end| end.finish()));
        self.open.append_option(end.map(|end| end.open.name()));
        let error = read.and_then(|read| read.as_ref().err());
        self.error.append_option(error.map(ToString::to_string));
    }
}

/// The roles of the tokens of all rows, by name.
#[derive(Debug, Default)]
struct RoleNames {
    names: StringBuilder,
    /// Whether each token is learnt, if that is asked for.
    mask: Option<BooleanBuilder>,
    offsets: Offsets,
}

impl<O: OffsetSizeTrait> Default for Columns<O> {
    fn default() -> Self {
        Self {
            content: Texts::default(),
            reasoning: Texts::default(),
            calls: Calls::default(),
            worst: Outcome::Complete,
            outcome: StringBuilder::new(),
            diagnostics: Diagnostics::default(),
            ends: Ends::default(),
            roles: None,
            nulls: NullBufferBuilder::new(0),
        }
    }
}

/// A column of texts that grow in pieces.
#[derive(Debug)]
struct Texts<O: OffsetSizeTrait> {
    builder: GenericStringBuilder<O>,
    /// Whether a text was refused because the column would be too long.
    full: bool,
}

impl<O: OffsetSizeTrait> Default for Texts<O> {
    fn default() -> Self {
        Self { builder: GenericStringBuilder::new(), full: false }
    }
}

impl<O: OffsetSizeTrait> Texts<O> {
    /// Adds a piece to the current text.
    fn add(&mut self, piece: &str) {
        let len = self.builder.values_slice().len().saturating_add(piece.len());
        self.full |= O::from_usize(len).is_none();
        if !self.full {
            // Writing to memory does not fail.
            let _ = self.builder.write_str(piece);
        }
    }

    /// Ends the current text.
    fn end(&mut self) {
        self.builder.append_value("");
    }

    fn null(&mut self) {
        self.builder.append_null();
    }

    fn finish(mut self) -> Result<GenericStringArray<O>, ColumnOverflow> {
        match self.full {
            true => Err(ColumnOverflow("a column of texts is too long".to_owned())),
            false => Ok(self.builder.finish()),
        }
    }
}

/// The calls of all rows.
#[derive(Debug)]
struct Calls<O: OffsetSizeTrait> {
    id: Texts<O>,
    name: Texts<O>,
    arguments: Texts<O>,
    outcome: StringBuilder,
    offsets: Offsets,
    open: bool,
}

impl<O: OffsetSizeTrait> Default for Calls<O> {
    fn default() -> Self {
        Self {
            id: Texts::default(),
            name: Texts::default(),
            arguments: Texts::default(),
            outcome: StringBuilder::new(),
            offsets: Offsets::default(),
            open: false,
        }
    }
}

impl<O: OffsetSizeTrait> Calls<O> {
    fn start(&mut self, id: &str, name: &str) {
        for (column, text) in [(&mut self.id, id), (&mut self.name, name)] {
            column.add(text);
            column.end();
        }
        self.open = true;
    }

    fn end(&mut self, outcome: Outcome) {
        self.arguments.end();
        self.outcome.append_value(outcome.name());
        self.offsets.grow();
        self.open = false;
    }

    fn finish(mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ColumnOverflow> {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(self.id.finish()?)),
            ("name", Arc::new(self.name.finish()?)),
            ("arguments", Arc::new(self.arguments.finish()?)),
            ("outcome", Arc::new(self.outcome.finish())),
        ];
        self.offsets.list(Arc::new(structure(columns, None)?), nulls)
    }
}

/// The diagnostics of all rows.
#[derive(Debug, Default)]
struct Diagnostics {
    kind: StringBuilder,
    at: UInt64Builder,
    bytes: UInt64Builder,
    call: UInt32Builder,
    offsets: Offsets,
}

impl Diagnostics {
    fn add(&mut self, Diagnostic { kind, at, bytes, call, .. }: Diagnostic) {
        self.kind.append_value(kind.name());
        self.at.append_value(at);
        self.bytes.append_value(bytes);
        self.call.append_option(call);
        self.offsets.grow();
    }

    fn finish(mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ColumnOverflow> {
        let (at, bytes): (UInt64Array, UInt64Array) = (self.at.finish(), self.bytes.finish());
        let call: UInt32Array = self.call.finish();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("kind", Arc::new(self.kind.finish())),
            ("at", Arc::new(at)),
            ("bytes", Arc::new(bytes)),
            ("call", Arc::new(call)),
        ];
        self.offsets.list(Arc::new(structure(columns, None)?), nulls)
    }
}

/// The ends of the lists of all rows.
#[derive(Debug, Clone)]
struct Offsets {
    ends: Vec<i32>,
    /// Number of items so far, or `None` if there are too many for the offsets.
    items: Option<i32>,
}

impl Default for Offsets {
    fn default() -> Self {
        Self { ends: vec![0], items: Some(0) }
    }
}

impl Offsets {
    /// Adds an item to the current list.
    fn grow(&mut self) {
        self.items = self.items.and_then(|items| items.checked_add(1));
    }

    /// Ends the current list.
    fn end(&mut self) {
        let last = self.ends.last().copied().unwrap_or_default();
        self.ends.push(self.items.unwrap_or(last));
    }

    /// Returns a column of lists whose entries are `items`.
    fn list(self, items: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef, ColumnOverflow> {
        if self.items.is_none() {
            return Err(ColumnOverflow("a column of lists is too long".to_owned()));
        }
        let item = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.ends));
        Ok(Arc::new(ListArray::try_new(item, offsets, items, nulls)?))
    }
}

/// Returns an array of structures with these columns. A structure may be null.
fn structure(
    columns: Vec<(&str, ArrayRef)>,
    nulls: Option<NullBuffer>,
) -> Result<StructArray, ColumnOverflow> {
    let field = |(name, column): &(&str, ArrayRef)| {
        let kind: DataType = column.data_type().clone();
        Field::new(*name, kind, true)
    };
    let fields: Fields = columns.iter().map(field).collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    Ok(StructArray::try_new(fields, columns, nulls)?)
}

impl<O: OffsetSizeTrait> Columns<O> {
    /// Creates columns with an additional one for the roles of tokens, and one for whether tokens
    /// are learnt if there is a `mask`.
    pub fn with_roles(mask: bool) -> Self {
        let mask = mask.then(BooleanBuilder::new);
        Self { roles: Some(RoleNames { mask, ..RoleNames::default() }), ..Self::default() }
    }

    /// Adds whether the current row's next token is learnt. Each token also has its role.
    pub fn learnt(&mut self, learnt: bool) {
        if let Some(RoleNames { mask: Some(mask), .. }) = &mut self.roles {
            mask.append_value(learnt);
        }
    }

    /// Adds the role of the current row's next token.
    pub fn role(&mut self, role: TokenRole) {
        if let Some(RoleNames { names, offsets, .. }) = &mut self.roles {
            names.append_value(role.name());
            offsets.grow();
        }
    }

    /// Adds a null as the next row.
    pub fn null(&mut self) {
        self.content.null();
        self.reasoning.null();
        self.outcome.append_null();
        self.ends.add(None);
        self.nulls.append_null();
        self.end_lists();
    }

    /// Ends the current row. A row with an error keeps what was read before it.
    pub fn end_row(&mut self, read: &Result<MessageEnd, RowError>) {
        if self.calls.open {
            self.event(Event::CallEnd { index: 0, outcome: Outcome::Incomplete });
        }
        self.content.end();
        self.reasoning.end();
        self.outcome.append_option(read.as_ref().ok().map(|_| self.worst.name()));
        self.ends.add(Some(read));
        self.nulls.append_non_null();
        self.end_lists();
        self.worst = Outcome::Complete;
    }

    fn end_lists(&mut self) {
        self.calls.offsets.end();
        self.diagnostics.offsets.end();
        if let Some(roles) = &mut self.roles {
            roles.offsets.end();
        }
    }

    /// Builds the array of all rows.
    ///
    /// # Errors
    /// A column is too long for its offsets.
    pub fn finish(mut self) -> Result<ArrayData, ColumnOverflow> {
        let nulls = self.nulls.finish();
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("content", Arc::new(self.content.finish()?)),
            ("reasoning", Arc::new(self.reasoning.finish()?)),
            ("calls", self.calls.finish(nulls.clone())?),
            ("outcome", Arc::new(self.outcome.finish())),
            ("diagnostics", self.diagnostics.finish(nulls.clone())?),
            ("finish", Arc::new(self.ends.finish.finish())),
            ("open", Arc::new(self.ends.open.finish())),
            ("error", Arc::new(self.ends.error.finish())),
        ];
        if let Some(RoleNames { mut names, mask, offsets }) = self.roles {
            let mask =
                mask.map(|mut mask| offsets.clone().list(Arc::new(mask.finish()), nulls.clone()));
            columns.push(("token_roles", offsets.list(Arc::new(names.finish()), nulls.clone())?));
            if let Some(mask) = mask {
                columns.push(("loss_mask", mask?));
            }
        }
        Ok(structure(columns, nulls)?.into_data())
    }
}

impl<O: OffsetSizeTrait> Sink for Columns<O> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) | Event::Other(_, text) => self.content.add(text),
            Event::Reasoning(text) => self.reasoning.add(text),
            Event::CallStart { id, name, .. } => self.calls.start(id, name),
            Event::CallArguments { fragment, .. } => self.calls.arguments.add(fragment),
            Event::CallEnd { outcome, .. } => {
                self.worst = self.worst.worse(outcome);
                self.calls.end(outcome);
            }
            Event::Diagnostic(diagnostic) => self.diagnostics.add(diagnostic),
            // Other events, such as late ids and edges of markers, are for stages of the guard.
            _ => {}
        }
    }
}
