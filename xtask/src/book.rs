//! `cargo xtask book`: builds the pages of `docs/` as a book, and checks that its index is
//! complete.

use std::{fs, path::Path};

use crate::process::{Invocation, required};

/// The address of the repository's files, for links that lead out of `docs/`.
const REPOSITORY: &str = "https://github.com/llm-stream-guard/llm-stream-guard/tree/main/";

/// Builds the book into `target/book`.
///
/// # Errors
/// Returns an error if `mdbook` is missing or fails, or a page cannot be copied.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    required("mdbook")?;
    let source = root.join("target/book-source");
    copy(&root.join("docs"), &source).map_err(|error| format!("{}: {error}", source.display()))?;
    Invocation::new("mdbook build target/book-source --dest-dir target/book").run(root)
}

/// Copies the pages and images. Links of pages that lead out of the directory become web addresses.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, target) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
        if path.is_dir() {
            copy(&path, &target)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            fs::write(target, absolute_links(&fs::read_to_string(path)?))?;
        } else {
            fs::copy(path, target)?;
        }
    }
    Ok(())
}

fn absolute_links(page: &str) -> String {
    page.replace("](../", &format!("]({REPOSITORY}"))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    /// Returns the targets of all links of a page that lead to a file of the repository.
    fn links(text: &str) -> BTreeSet<&str> {
        let targets = text.split("](").skip(1).filter_map(|part| part.split([')', '#']).next());
        targets.filter(|target| !target.is_empty() && !target.contains(':')).collect()
    }

    /// Pages of the directory that none of `links` leads to.
    fn missing<'a>(pages: &'a BTreeSet<String>, links: &BTreeSet<&str>) -> Vec<&'a str> {
        pages.iter().map(String::as_str).filter(|page| !links.contains(page)).collect()
    }

    fn pages(docs: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(docs).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect()
    }

    #[test]
    fn every_page_is_in_the_index_and_in_the_table_of_contents() {
        let docs = crate::root().join("docs");
        let pages = pages(&docs);
        let contents = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
        assert_eq!(missing(&pages, &links(&contents)), Vec::<&str>::new());
        let mut indexed = pages.clone();
        indexed.remove("README.md");
        let index = fs::read_to_string(docs.join("README.md")).unwrap();
        let glossary = "glossary.md";
        assert!(links(&index).contains(glossary));
        assert_eq!(missing(&indexed, &links(&index)), Vec::<&str>::new());
    }

    #[test]
    fn links_outside_the_pages_become_web_addresses() {
        let page = "[a](a.md) [families](../families/README.md#keys)";
        let expected =
            format!("[a](a.md) [families]({}families/README.md#keys)", super::REPOSITORY);
        assert_eq!(super::absolute_links(page), expected);
    }

    #[test]
    fn unlinked_page_is_found() {
        let pages = BTreeSet::from(["a.md".to_owned(), "b.md".to_owned()]);
        let text = "[A](a.md#part) [out](https://example.com) [part](#b.md)";
        assert_eq!(missing(&pages, &links(text)), ["b.md"]);
    }

    /// Returns the rows of the index's table of search words: the words, and the page.
    fn searches(index: &str) -> Vec<(&str, &str)> {
        let table = index.split_once("## You searched for").unwrap().1;
        let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | ["));
        rows.filter_map(|(words, page)| Some((words, page.split_once("](")?.1.split_once(')')?.0)))
            .collect()
    }

    #[test]
    fn words_that_people_search_for_are_on_the_page() {
        let docs = crate::root().join("docs");
        let index = fs::read_to_string(docs.join("README.md")).unwrap();
        let searches = searches(&index);
        assert!(searches.len() > 20, "{searches:?}");
        let mut missing = Vec::new();
        for (words, page) in searches {
            let text = fs::read_to_string(docs.join(page)).unwrap().to_lowercase();
            let lower = words.replace('`', "").to_lowercase();
            let absent = lower.split_whitespace().filter(|word| !text.contains(word));
            missing.extend(absent.map(|word| format!("{words}: {page} lacks `{word}`")));
        }
        assert_eq!(missing, Vec::<String>::new());
    }

    #[test]
    fn every_link_of_a_page_leads_to_a_file() {
        let root = crate::root();
        let mut broken = Vec::new();
        for page in pages(&root.join("docs")) {
            let text = fs::read_to_string(root.join("docs").join(&page)).unwrap();
            for target in links(&text) {
                if !root.join("docs").join(target).exists() {
                    broken.push(format!("{page}: {target}"));
                }
            }
        }
        assert_eq!(broken, Vec::<String>::new());
    }
}
