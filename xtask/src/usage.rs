//! The help of the command line.

/// The tasks and their options.
pub(crate) const USAGE: &str = "\
cargo xtask ci [--full|--job NAME]         what a change must pass; what a release must, every step; or one
                                           job of the continuous integration
cargo xtask tidy                           house rules the compiler does not know
cargo xtask families [--check]             the tables made of `families/`; or what is wrong with them
cargo xtask drift [--keep] [DIRECTORY]     names of parsers in the newest engine wheels that no family has, and
                                           parsing code that changed since it was read; downloads the wheels, or
                                           reads those of the directory; or keeps the code's hashes as read
cargo xtask e2e [--soak]                   real clients and a real server, as far as they are there; or
                                           a thousand streams at a time, for minutes
cargo xtask e2e --engines [DIRECTORY]      vLLM, SGLang, transformers and llama.cpp by case, as far as they can
                                           be installed below the directory, or that of the user's caches
cargo xtask bench [--all]                  ratios, allocations, memory, growth, hostile text; with each profile
cargo xtask bench --peers [FILTER]         the ratios beside those of other parsers, which it builds first
cargo xtask bench --count|--gate|--keep    instructions a chunk; fails if they grew; new ones to compare with
cargo xtask compare [DIRECTORY]            our vectors through the parsers of others; writes docs/results.*
                                           with a directory: its vectors, too, and pages below the target directory
cargo xtask compare --fixtures             a public suite's answers through the command: how many are right
cargo xtask compare --old REV [DIRECTORY]  what the revision and the working tree read differently, of vectors,
                                           cut and whole, encoded calls, samples and the public suite
cargo xtask fuzz [TARGET|all]              fuzz targets, for a time each (--seconds N, --jobs N)
cargo xtask fuzz seed [TARGET]             inputs and words to begin with, made of the families
cargo xtask mutants [PART] [--shard K/N]   changes of the code, by `cargo mutants`: a test must see each
cargo xtask seeded                         faults put back one at a time: a law must see each
cargo xtask templates [--count N] [SEED]   random templates' wires against the `transformers` package
cargo xtask grammars [--count N]           grammars of all families under llguidance and XGrammar
cargo xtask page                           the page of `explain` in a headless Chromium, if there is one, and
                                           the page that explains recordings, if it can be built
cargo xtask js [--check]                   the npm package: build, and tests in Node and in Chromium; or its
                                           sources alone
cargo xtask python [--check]               the Python package: style, types, wheel and tests; or style and
                                           types alone
cargo xtask book                           the pages of docs/ as a book in target/book, by `mdbook`
cargo xtask release --dry-run [CRATE...]   package the library crates, publish nothing
cargo xtask dist [DIRECTORY]               everything that a release ships, each installed without Rust and used
                                           once; or one part of it (--only NAME), for a platform (--target TRIPLE)";
