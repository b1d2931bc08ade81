//! A second implementation of fences and inline code, line by line over a whole text.

/// Returns whether the text after `text` is inside code.
pub(crate) fn hides(text: &str) -> bool {
    let mut fence: Option<(char, usize)> = None;
    let mut lines = text.split('\n').peekable();
    let mut hidden = false;
    while let Some(line) = lines.next() {
        let last = lines.peek().is_none();
        let indent = line.len() - line.trim_start_matches(' ').len();
        let body = &line[indent..];
        let tick = body.chars().next().filter(|c| matches!(c, '`' | '~') && indent <= 3);
        let run = tick.map_or(0, |t| body.chars().take_while(|&c| c == t).count());
        let rest = &body[run..];
        match (fence, tick) {
            (Some((open, count)), _) => {
                let blank = rest.chars().all(|c| matches!(c, ' ' | '\t' | '\r'));
                if tick == Some(open) && run >= count && blank && !last {
                    fence = None;
                }
                hidden = true;
            }
            (None, Some('~')) if run >= 3 => {
                fence = Some(('~', run));
                hidden = true;
            }
            (None, Some('`')) if run >= 3 && !rest.contains('`') => {
                fence = Some(('`', run));
                hidden = true;
            }
            (None, _) => {
                let open = inline(line);
                hidden = open.is_some();
                fence = open.filter(|&run| run >= 3 && !last).map(|run| ('`', run));
            }
        }
    }
    hidden
}

/// Returns the length of the backtick run that is open at the end of a line.
fn inline(line: &str) -> Option<usize> {
    let mut open: Option<usize> = None;
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        rest = &rest[at..];
        let run = rest.bytes().take_while(|&b| b == b'`').count();
        open = match open {
            Some(n) if n == run => None,
            None => Some(run),
            other => other,
        };
        rest = &rest[run..];
    }
    open
}
