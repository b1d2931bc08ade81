//! `parse --column` on Parquet files, beside the same rows as JSON lines.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};

use arrow_array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, Int64Array, LargeStringArray, ListArray,
    NullArray, RecordBatch, StringArray, StructArray, UInt32Array, UInt64Array, cast::AsArray as _,
    types::Int32Type,
};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    file::properties::WriterProperties,
};
use serde_json::{Value, json};

/// Number of rows, enough for several batches of one thread.
const ROWS: usize = 5000;

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A text with reasoning and a call, or none.
fn text(row: usize) -> Option<String> {
    let call = format!(r#"<tool_call>{{"name": "ring", "arguments": {{"times": {row}}}}}"#);
    let text = format!("<think>{row}</think>Ünit {row}.{call}</tool_call>");
    let cut = if row.is_multiple_of(5) { 20 } else { 0 };
    (!row.is_multiple_of(7)).then(|| text[..text.len() - cut].to_owned())
}

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .expect("columns of one length");
    let mut writer =
        ArrowWriter::try_new(File::create(path).expect("a file"), batch.schema(), None)
            .expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("an end");
}

fn run(path: &Path, options: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_llm-stream-guard"))
        .args(["parse", path.to_str().expect("UTF-8"), "--family", "qwen3", "--column", "text"])
        .args(options)
        .output();
    output.expect("the command starts")
}

/// The rows that the command writes as Parquet.
fn rows(path: &Path, options: &[&str]) -> Vec<RecordBatch> {
    let output = run(path, options);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = path.with_extension("out");
    fs::write(&out, output.stdout).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(out).expect("a file"));
    let reader = reader.expect("Parquet").build().expect("a reader");
    reader.collect::<Result<_, _>>().expect("rows")
}

/// A value of an array as JSON.
fn value(array: &dyn Array, row: usize) -> Value {
    let any = array.as_any();
    if array.is_null(row) {
        Value::Null
    } else if let Some(texts) = any.downcast_ref::<StringArray>() {
        json!(texts.value(row))
    } else if let Some(texts) = any.downcast_ref::<LargeStringArray>() {
        json!(texts.value(row))
    } else if any.is::<BinaryArray>() || any.is::<NullArray>() {
        json!("bytes")
    } else if let Some(kinds) = any.downcast_ref::<DictionaryArray<Int32Type>>() {
        value(kinds.values().as_ref(), kinds.key(row).expect("a key"))
    } else if let Some(numbers) = any.downcast_ref::<Int64Array>() {
        json!(numbers.value(row))
    } else if let Some(numbers) = any.downcast_ref::<UInt64Array>() {
        json!(numbers.value(row))
    } else if let Some(numbers) = any.downcast_ref::<UInt32Array>() {
        json!(numbers.value(row))
    } else if let Some(lists) = any.downcast_ref::<ListArray>() {
        let items = lists.value(row);
        (0..items.len()).map(|item| value(items.as_ref(), item)).collect()
    } else {
        object(any.downcast_ref::<StructArray>().expect("a structure"), row)
    }
}

fn object(fields: &StructArray, row: usize) -> Value {
    let names = fields.fields().iter().map(|field| field.name().clone());
    let values = fields.columns().iter().map(|column| value(column.as_ref(), row));
    Value::Object(names.zip(values).collect())
}

fn objects(batches: &[RecordBatch]) -> Vec<Value> {
    let of = |batch: &RecordBatch| {
        let fields = StructArray::from(batch.clone());
        (0..fields.len()).map(move |row| object(&fields, row)).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

fn input(name: &str) -> PathBuf {
    let path = scratch(name);
    let numbers: Int64Array = (0..ROWS as i64).collect();
    let texts: StringArray = (0..ROWS).map(text).collect();
    write(&path, vec![("id", Arc::new(numbers)), ("text", Arc::new(texts))]);
    path
}

#[test]
fn parquet_gives_the_rows_of_json_lines() {
    let lines = scratch("rows.jsonl");
    let text = (0..ROWS).map(|row| format!("{}\n", json!({"id": row, "text": text(row)})));
    fs::write(&lines, text.collect::<String>()).expect("a file");
    let output = run(&lines, &[]);
    let expected = String::from_utf8(output.stdout).expect("UTF-8");
    let expected: Vec<Value> =
        expected.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(expected.len(), ROWS);
    assert_eq!(expected[10]["message"]["outcome"], "incomplete");

    let path = input("rows.parquet");
    for threads in ["1", "3"] {
        let found = objects(&rows(&path, &["--threads", threads]));
        assert!(found == expected, "{threads} threads");
    }
}

#[test]
fn long_strings_keep_their_type() {
    let path = scratch("large.parquet");
    let texts: LargeStringArray = ["<think>hm</think>Hi."].into_iter().map(Some).collect();
    write(&path, vec![("text", Arc::new(texts))]);
    let found = rows(&path, &[]);
    let message = found[0].column_by_name("message").expect("the column").as_struct();
    let content = message.column_by_name("content").expect("the field");
    assert_eq!(content.as_string::<i64>().value(0), "Hi.");
}

#[test]
fn row_groups_become_files_and_are_not_written_again() {
    let path = scratch("groups.parquet");
    let folder = scratch("groups");
    let _ = fs::remove_dir_all(&folder);
    let texts: StringArray = (0..ROWS).map(text).collect();
    let ids: Int64Array = (0..ROWS as i64).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![("id", Arc::new(ids)), ("text", Arc::new(texts))];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(2000)).build();
    let file = File::create(&path).expect("a file");
    let mut writer =
        ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("an end");

    let whole = objects(&rows(&path, &[]));
    let parts = |folder: &Path| {
        let output = run(&path, &["--parts", folder.to_str().expect("UTF-8")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty());
        let mut files: Vec<_> =
            fs::read_dir(folder).expect("a folder").map(|it| it.expect("a file").path()).collect();
        files.sort();
        files
    };
    let files = parts(&folder);
    assert_eq!(files.len(), 3);
    let read = |file: &PathBuf| {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file).expect("a file"));
        let reader = reader.expect("Parquet").build().expect("a reader");
        objects(&reader.collect::<Result<Vec<_>, _>>().expect("rows"))
    };
    assert!(files.iter().flat_map(read).collect::<Vec<_>>() == whole);

    // A run that was stopped has an unfinished file, and lacks another.
    fs::write(&files[0], "kept").expect("a file");
    fs::rename(&files[2], files[2].with_extension("unfinished")).expect("a file");
    assert_eq!(parts(&folder), files);
    assert_eq!(fs::read(&files[0]).expect("a file"), b"kept");
    assert!(read(&files[2])[..] == whole[4000..]);
}

#[test]
fn bytes_dictionaries_and_nulls_are_read_and_errors_stay_in_their_row() {
    let path = scratch("kinds.parquet");
    let bytes: BinaryArray =
        [Some(&b"<think>a</think>b"[..]), None, Some(b"\xff")].iter().collect();
    let kinds: DictionaryArray<Int32Type> = [Some("c"), None, Some("c")].into_iter().collect();
    let nulls = NullArray::new(3);
    let ends: StringArray = [Some("length"), None, Some("stop")].into_iter().collect();
    let keys: Int64Array = (0..3).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new(bytes)),
        ("kind", Arc::new(kinds)),
        ("null", Arc::new(nulls)),
        ("end", Arc::new(ends)),
        ("key", Arc::new(keys)),
    ];
    write(&path, columns);
    let settings = ["--row", "finish=end", "--row", "key=key"];
    let found = objects(&rows(&path, &settings));
    assert_eq!(found[0]["message"]["reasoning"], "a");
    assert_eq!(found[0]["message"]["finish"], "length");
    assert_eq!(found[1]["message"], Value::Null);
    assert_eq!(found[2]["message"]["error"], "the text is not UTF-8 at byte 0");
    let raised = run(&path, &["--on-error", "raise"]);
    let fault = String::from_utf8_lossy(&raised.stderr).into_owned();
    assert!(fault.contains("row 2: the text is not UTF-8"), "{fault}");
    let run_on = |column: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_llm-stream-guard"))
            .args(["parse", path.to_str().expect("UTF-8"), "--family", "qwen3"])
            .args(["--column", column, "--count"])
            .output()
            .expect("the command starts");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    assert_eq!(run_on("text")["errors"], 1);
    assert_eq!(run_on("kind")["finish"], json!({"stop": 2}));
    assert_eq!(run_on("null")["nulls"], 3);
}

#[test]
fn faults_name_the_column() {
    let texts = || -> ArrayRef { Arc::new(StringArray::from(vec!["Hi."])) };
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    for (columns, fault) in [
        (vec![("id", Arc::clone(&numbers))], "the file has no column `text`; it has id"),
        (vec![("text", numbers)], "expected an array of strings, found `Int64`"),
        (vec![("text", texts()), ("message", texts())], "the file has a column `message`"),
    ] {
        let path = scratch("faulty.parquet");
        write(&path, columns);
        let output = run(&path, &[]);
        let found = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(found.contains(fault), "{found}");
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
    }
    let path = scratch("cut.parquet");
    fs::write(&path, "PAR1").expect("a file");
    assert_eq!(run(&path, &[]).status.code(), Some(2));
}
