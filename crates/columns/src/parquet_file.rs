//! Parses Parquet files: adds a column of messages to the rows of a file.
//!
//! ```text
//! id: 7, text: "<think>hm</think>Hi."
//! id: 7, text: "<think>hm</think>Hi.", message: {content: "Hi.", reasoning: "hm", ...}
//! ```

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    sync::Arc,
};

use arrow_array::{Array as _, ArrayRef, RecordBatch, cast::AsArray as _, make_array};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use indicatif::{ProgressBar, ProgressStyle};
use llm_stream_guard::{RowCounts, RowSetting};
use llm_stream_guard_cli::ColumnFile;
use parquet::{
    arrow::{
        ArrowWriter,
        arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder},
    },
    basic::Compression,
    file::properties::WriterProperties,
};

use crate::{BatchError, BatchSettings, TextArray, count_texts, parse_texts};

/// Number of rows that a thread takes at once.
const ROWS: usize = 2048;

/// The reason why a file was not parsed.
type Fault = Box<dyn std::error::Error>;

/// A Parquet file of rows, and what its columns mean.
struct RowFile<'t> {
    table: &'t ColumnFile<'t>,
    metadata: ArrowReaderMetadata,
    /// The position of the texts.
    texts: usize,
    /// The positions of the rows' own settings.
    row: Vec<(RowSetting, usize)>,
    /// The columns of the file, and that of the messages.
    schema: SchemaRef,
    bar: ProgressBar,
}

/// Parses a column of a Parquet file, and writes the rows with their messages as Parquet. Returns
/// the counts of the rows, complete if only counts are wanted.
///
/// # Errors
/// The file cannot be read, lacks a column, or already has a column called `message`. Also if a row
/// has an error and errors end the command, or the output cannot be written.
pub fn parse_parquet(
    table: &ColumnFile<'_>,
    out: &mut (dyn Write + Send),
) -> Result<RowCounts, String> {
    let parsed = RowFile::open(table).and_then(|file| match table.parts {
        _ if table.count => file.count(),
        Some(folder) => file.write_parts(folder),
        None => file.write(None, out),
    });
    parsed.map_err(|error| error.to_string())
}

impl<'t> RowFile<'t> {
    fn open(table: &'t ColumnFile<'t>) -> Result<Self, Fault> {
        let metadata = ArrowReaderMetadata::load(&File::open(table.path)?, Default::default())?;
        let (texts, schema) = with_message(table, metadata.schema())?;
        let row = table.row.iter().map(|(setting, name)| {
            Ok::<_, Fault>((*setting, position(name, metadata.schema())?.0))
        });
        let row = row.collect::<Result<_, _>>()?;
        let bar = bar(metadata.metadata().file_metadata().num_rows());
        Ok(Self { table, metadata, texts, row, schema, bar })
    }

    /// Calls `on` with each batch of the file, or of one of its row groups.
    fn each(
        &self,
        group: Option<usize>,
        mut on: impl FnMut(&RecordBatch, &BatchSettings<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Self { table, metadata, row, bar, .. } = self;
        let file = File::open(table.path)?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
        let builder = match group {
            Some(group) => builder.with_row_groups(vec![group]),
            None => builder,
        };
        let rows = ROWS.saturating_mul(table.threads).max(1);
        for batch in builder.with_batch_size(rows).build()? {
            let batch = batch?;
            let columns = row.iter().map(|(setting, at)| {
                TextArray::of_keys(batch.column(*at).as_ref()).map(|column| (*setting, column))
            });
            let settings = BatchSettings {
                reader: &table.reader,
                rows: columns.collect::<Result<_, _>>()?,
                raises: table.raises,
                threads: table.threads,
            };
            on(&batch, &settings)?;
            bar.inc(u64::try_from(batch.num_rows()).unwrap_or_default());
        }
        Ok(())
    }

    fn count(&self) -> Result<RowCounts, Fault> {
        let mut counts = RowCounts::default();
        self.each(None, |batch, settings| {
            counts.merge(&count_texts(batch.column(self.texts).as_ref(), settings)?);
            Ok(())
        })?;
        self.bar.finish_and_clear();
        Ok(counts)
    }

    /// Writes the rows of the file, or of one of its row groups.
    fn write(
        &self,
        group: Option<usize>,
        out: &mut (dyn Write + Send),
    ) -> Result<RowCounts, Fault> {
        let mut counts = RowCounts::default();
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = ArrowWriter::try_new(out, Arc::clone(&self.schema), Some(properties))?;
        self.each(group, |batch, settings| {
            let mut from = 0;
            for part in parse_texts(batch.column(self.texts).as_ref(), settings)? {
                let (len, messages) = (part.len(), make_array(part));
                count_errors(&messages, &mut counts);
                writer.write(&self.extended(&batch.slice(from, len), messages)?)?;
                from += len;
            }
            Ok(())
        })?;
        writer.close()?;
        if group.is_none() {
            self.bar.finish_and_clear();
        }
        Ok(counts)
    }

    /// Writes each row group to a separate file, unless the file exists. A file gets its name when
    /// it is whole.
    fn write_parts(&self, folder: &Path) -> Result<RowCounts, Fault> {
        fs::create_dir_all(folder)?;
        let mut counts = RowCounts::default();
        for (group, rows) in self.metadata.metadata().row_groups().iter().enumerate() {
            let path = folder.join(format!("part-{group:06}.parquet"));
            if path.exists() {
                self.bar.inc(u64::try_from(rows.num_rows()).unwrap_or_default());
                continue;
            }
            let unfinished = path.with_extension("unfinished");
            let mut file = File::create(&unfinished)?;
            counts.merge(&self.write(Some(group), &mut file)?);
            file.sync_all()?;
            fs::rename(&unfinished, &path)?;
        }
        self.bar.finish_and_clear();
        Ok(counts)
    }

    /// Returns rows with their messages.
    fn extended(&self, rows: &RecordBatch, messages: ArrayRef) -> Result<RecordBatch, Fault> {
        let columns = rows.columns().iter().cloned().chain([messages]).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

/// Adds the rows and errors of messages to `counts`.
fn count_errors(messages: &ArrayRef, counts: &mut RowCounts) {
    let errors = messages.as_struct().column_by_name("error");
    let errors = errors.map_or(0, |errors| errors.len() - errors.null_count());
    counts.rows += messages.len() as u64;
    counts.errors += errors as u64;
}

/// Returns the position and the type of a column.
fn position<'s>(name: &str, schema: &'s Schema) -> Result<(usize, &'s Field), Fault> {
    schema.column_with_name(name).ok_or_else(|| {
        let names: Vec<_> = schema.fields().iter().map(|it| it.name().as_str()).collect();
        format!("the file has no column `{name}`; it has {}", names.join(", ")).into()
    })
}

/// Returns the position of the texts, and the schema with a column of messages.
fn with_message(table: &ColumnFile<'_>, input: &Schema) -> Result<(usize, SchemaRef), Fault> {
    let ColumnFile { column, field, .. } = table;
    let (at, texts) = position(column, input)?;
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
    let settings =
        BatchSettings { reader: &table.reader, rows: Vec::new(), raises: false, threads: 1 };
    let parts: Vec<ArrayData> = parse_texts(none.as_ref(), &settings)?;
    Ok(parts.first().map_or(DataType::Null, |part| part.data_type().clone()))
}

/// Returns a progress bar on a terminal, over the rows.
fn bar(rows: i64) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(rows).unwrap_or_default());
    match ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} rows, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => ProgressBar::hidden(),
    }
}
