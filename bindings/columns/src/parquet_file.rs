//! Parses Parquet files: adds a column of messages to the rows of a file.
//!
//! ```text
//! id: 7, text: "<think>hm</think>Hi."
//! id: 7, text: "<think>hm</think>Hi.", message: {content: "Hi.", reasoning: "hm", ...}
//! ```

use std::{fs::File, io::Write, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch, make_array};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use indicatif::{ProgressBar, ProgressStyle};
use llm_stream_guard_cli::ColumnFile;
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    basic::Compression,
    file::properties::WriterProperties,
};

use crate::{BatchError, How, parse_texts};

/// Number of rows that a thread takes at once.
const ROWS: usize = 2048;

/// The reason why a file was not parsed.
type Fault = Box<dyn std::error::Error>;

/// Parses a column of a Parquet file, and writes the rows with their messages as Parquet.
///
/// # Errors
/// The file cannot be read, lacks the column of texts, or already has a column called `message`.
/// Also if a message exceeds a limit, or the output cannot be written.
pub fn parse_parquet(table: &ColumnFile<'_>, out: &mut (dyn Write + Send)) -> Result<(), String> {
    rewrite(table, out).map_err(|error| error.to_string())
}

fn rewrite(table: &ColumnFile<'_>, out: &mut (dyn Write + Send)) -> Result<(), Fault> {
    let file = ParquetRecordBatchReaderBuilder::try_new(File::open(table.path)?)?;
    let (at, schema) = with_message(table, file.schema())?;
    let bar = bar(file.metadata().file_metadata().num_rows());
    let rows = ROWS.saturating_mul(table.threads).max(1);
    let batches = file.with_batch_size(rows).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))?;
    for batch in batches {
        let batch = batch?;
        let how = How { end: table.end, threads: table.threads };
        let mut from = 0;
        for part in parse_texts(&table.guard, batch.column(at).as_ref(), how)? {
            let len = part.len();
            let part = extended(&batch.slice(from, len), part, &schema)?;
            writer.write(&part)?;
            from += len;
        }
        bar.inc(u64::try_from(batch.num_rows()).unwrap_or_default());
    }
    writer.close()?;
    bar.finish_and_clear();
    Ok(())
}

/// Returns the position of the texts, and the schema with a column of messages.
fn with_message(table: &ColumnFile<'_>, input: &Schema) -> Result<(usize, SchemaRef), Fault> {
    let ColumnFile { column, field, .. } = table;
    let (at, texts) = input.column_with_name(column).ok_or_else(|| {
        let names: Vec<_> = input.fields().iter().map(|it| it.name().as_str()).collect();
        format!("the file has no column `{column}`; it has {}", names.join(", "))
    })?;
    if input.column_with_name(field).is_some() {
        return Err(format!("the file has a column `{field}`").into());
    }
    let kind = message_type(table, texts.data_type())?;
    let message = Arc::new(Field::new(*field, kind, true));
    let fields = input.fields().iter().cloned().chain([message]).collect::<Vec<_>>();
    Ok((at, Arc::new(Schema::new_with_metadata(fields, input.metadata().clone()))))
}

/// Returns the type of the messages of texts.
fn message_type(table: &ColumnFile<'_>, texts: &DataType) -> Result<DataType, BatchError> {
    let none = arrow_array::new_empty_array(texts);
    let how = How { end: table.end, threads: 1 };
    let parts = parse_texts(&table.guard, none.as_ref(), how)?;
    Ok(parts.first().map_or(DataType::Null, |part| part.data_type().clone()))
}

/// Returns rows with their messages.
fn extended(
    rows: &RecordBatch,
    messages: ArrayData,
    schema: &SchemaRef,
) -> Result<RecordBatch, ArrowError> {
    let messages: ArrayRef = make_array(messages);
    let columns = rows.columns().iter().cloned().chain([messages]).collect();
    RecordBatch::try_new(Arc::clone(schema), columns)
}

/// Returns a progress bar on a terminal, over the rows.
fn bar(rows: i64) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(rows).unwrap_or_default());
    match ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} rows, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => ProgressBar::hidden(),
    }
}
