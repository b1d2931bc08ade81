//! A call's header: tags and fields, by the trie.

use super::{
    arguments::attributes::Read,
    call::{List, Machine, State, Step},
    cursor::{Cursor, Prefix, Undecided, blanks, longest_prefix, match_prefix},
    field::{declared, fits, id_with_name},
    output::Output,
    plan::{
        Arguments, BlankStop, Blanks, Bracket, Field, FieldKind, Leaf, LeafId, Node, NodeId, Plan,
        Quotes, SectionId,
    },
};
use crate::{event::DiagnosticKind, family::CommitOn};

/// What a literal of a header leads to.
#[derive(Debug, Clone, Copy)]
enum Next {
    Tag(NodeId),
    /// The tag before it, repeated.
    Again,
    Bracket(SectionId),
    /// The end of a section without calls.
    Empty,
}

impl Machine {
    /// Between two parts of a header.
    pub(super) fn header(
        &mut self,
        plan: &Plan,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Step {
        let node = &plan.nodes[usize::from(self.node)];
        if let Some(leaf) = only(plan, node) {
            return self.begin_arguments(plan, leaf, cursor, out);
        }
        let spaced = match node.blanks {
            Blanks::Free => cursor.skip_blanks(),
            Blanks::Exact => 0,
        };
        let blank_behind = node.blanks == Blanks::Exact && blanks(cursor.rest()) > 0;
        if cursor.rest().is_empty() {
            return Step::more(cursor.at);
        }
        match self.next(plan, node, cursor.rest(), spaced) {
            Err(Undecided) => return Step::more(cursor.at),
            Ok(Some((next, len))) => {
                cursor.at += len;
                match next {
                    Next::Tag(to) => {
                        self.in_call |= self.section.is_some();
                        self.go(plan, to);
                    }
                    Next::Again => {}
                    Next::Bracket(section) => self.enter(plan, section, List::Section),
                    Next::Empty => {
                        out.diagnose(DiagnosticKind::EmptyList, cursor.at, 0);
                        return Step::done(cursor.at);
                    }
                }
                return Step::Go;
            }
            Ok(None) => {}
        }
        if let Some(step) = self.in_list(plan, cursor, out) {
            return step;
        }
        if let Some(leaf) = self.choose(plan, node, cursor.rest()) {
            return self.begin_arguments(plan, leaf, cursor, out);
        }
        if node.field.is_some() && !blank_behind {
            if out.calls.committed() && !self.in_call {
                self.item_at = out.calls.at + cursor.at as u64;
            }
            self.begin_field(plan);
            return Step::Go;
        }
        self.mismatch(plan, cursor, out)
    }

    /// The longest literal that may stand here.
    fn next(
        &self,
        plan: &Plan,
        node: &Node,
        rest: &str,
        spaced: usize,
    ) -> Result<Option<(Next, usize)>, Undecided> {
        let mut best: Option<(Next, usize)> = None;
        let mut partial = false;
        let mut consider = |next: Next, literal: &str| match match_prefix(rest, literal) {
            Prefix::Match if best.is_none_or(|(_, len)| literal.len() > len) => {
                best = Some((next, literal.len()));
            }
            Prefix::Partial => partial = true,
            Prefix::Match | Prefix::Mismatch => {}
        };
        for tag in &node.tags {
            consider(Next::Tag(tag.to), &tag.text);
        }
        for again in &node.again {
            consider(Next::Again, again);
        }
        if self.list == List::None {
            for &id in &node.sections {
                let section = &plan.sections[usize::from(id)];
                // Brackets may stand around the calls of any section.
                let may = section.bracket == Bracket::Square || node.field.is_some();
                if may && (section.blanks == Blanks::Free || spaced == 0) {
                    consider(Next::Bracket(id), "[");
                }
            }
            if self.calls_seen == 0 {
                let sections = node.sections.iter().map(|&id| &plan.sections[usize::from(id)]);
                for end in sections.flat_map(|section| section.ends.tags.iter().flatten()) {
                    consider(Next::Empty, end);
                }
            }
        }
        if partial { Err(Undecided) } else { Ok(best) }
    }

    /// The end of a list without calls, or a list in the place of one call.
    fn in_list(
        &mut self,
        plan: &Plan,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Option<Step> {
        match cursor.peek() {
            Some(b']') if self.list != List::None && self.calls_seen == 0 => {
                cursor.at += 1;
                // Nothing between explicit markers is markup; a bare `[]` is text.
                let marked = self.has_ends(plan);
                if !marked {
                    cursor.at -= 1;
                    return Some(self.bad(cursor, out));
                }
                self.state = State::Empty;
                Some(Step::Go)
            }
            Some(b'[') if self.list == List::None => {
                let node = &plan.nodes[usize::from(self.node)];
                let object = |&leaf: &LeafId| {
                    matches!(plan.leaves[usize::from(leaf)].arguments, Arguments::Object(_))
                };
                let leaf = node.leaves.iter().copied().find(object)?;
                self.leaf = leaf;
                cursor.at += 1;
                self.list = List::Call;
                Some(Step::Go)
            }
            _ => None,
        }
    }

    /// Whether an end tag is declared for what is being read.
    fn has_ends(&self, plan: &Plan) -> bool {
        match (self.list, self.section) {
            (List::Call, _) => !plan.leaves[usize::from(self.leaf)].ends.tags.is_empty(),
            (_, Some(section)) => {
                let section = &plan.sections[usize::from(section)];
                !section.ends.tags.is_empty() && section.commit == CommitOn::Marker
            }
            _ => false,
        }
    }

    /// Nothing that may stand here does.
    fn mismatch(&mut self, plan: &Plan, cursor: &Cursor<'_>, out: &mut Output<'_>) -> Step {
        if out.calls.committed() || self.list != List::None {
            return self.bad(cursor, out);
        }
        if let Some(section) = self.section {
            let section = &plan.sections[usize::from(section)];
            let marked = !section.opens.is_empty() && section.commit == CommitOn::Marker;
            if marked && self.in_call {
                // An entry of another kind.
                out.mute(DiagnosticKind::PseudoCall, cursor.at);
                self.calls_seen += 1;
                return self.bad(cursor, out);
            }
            if section.is_token && !self.in_call {
                self.state = State::Noise;
                return Step::Go;
            }
            if section.opens_text {
                // The token is markup, and what follows it is text.
                return Step::done(cursor.at);
            }
        }
        self.bad(cursor, out)
    }

    /// The arguments that may begin with `rest`: of several the one to be tried now.
    fn choose(&mut self, plan: &Plan, node: &Node, rest: &str) -> Option<LeafId> {
        let fits = |&&id: &&LeafId| may_begin(&plan.leaves[usize::from(id)], rest);
        let mut fitting = node.leaves.iter().filter(fits);
        let count = fitting.clone().count();
        self.choices = self.choices.max(count);
        fitting.nth(self.attempt.min(count.saturating_sub(1))).copied()
    }

    /// The header is whole.
    fn begin_arguments(
        &mut self,
        plan: &Plan,
        id: LeafId,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Step {
        self.leaf = id;
        let leaf = &plan.leaves[usize::from(id)];
        self.started = false;
        match &leaf.arguments {
            Arguments::Object(_) | Arguments::Keywords(_) => {
                let name = leaf.name.as_deref().unwrap_or(&self.name);
                let keywords = matches!(leaf.arguments, Arguments::Keywords(_));
                if keywords
                    && leaf.commit == CommitOn::DeclaredName
                    && !out.calls.committed()
                    && !out.calls.tools.admits(name)
                {
                    return self.bad(cursor, out);
                }
                if !keywords {
                    self.item_at = out.calls.at + cursor.at as u64;
                }
                self.begin_reader(&leaf.arguments);
            }
            arguments => {
                if let Err(step) = self.start(plan, cursor, out) {
                    return step;
                }
                if matches!(arguments, Arguments::None) {
                    out.arguments("{}");
                    self.complete(out);
                    return Step::Go;
                }
                self.begin_reader(arguments);
            }
        }
        self.state = State::Arguments;
        Step::Go
    }

    pub(super) fn begin_field(&mut self, plan: &Plan) {
        self.state = State::Field;
        self.field.clear();
        self.quote = None;
        let field = plan.nodes[usize::from(self.node)].field.as_ref();
        if let Some(header) = field.and_then(|(field, _)| field.header.as_ref()) {
            self.attributes.begin(header);
        }
    }

    /// In a field of the header.
    pub(super) fn field(
        &mut self,
        plan: &Plan,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Step {
        let node = &plan.nodes[usize::from(self.node)];
        let Some((field, to)) = &node.field else { return self.bad(cursor, out) };
        if field.header.is_some() {
            return self.attributes(plan, field, *to, cursor, out);
        }
        let limit = out.calls.options.limits.name;
        let stops = || field.stops.iter().map(|stop| &**stop);
        let mut from = cursor.at;
        while let Some(scalar) = cursor.rest().chars().next() {
            let empty = self.field.is_empty() && cursor.at == from;
            if let Some(quote) = self.quote {
                if scalar == quote {
                    self.field.push_str(&cursor.text[from..cursor.at]);
                    cursor.at += 1;
                    return self.end_field(plan, &field.kind, *to, cursor, out);
                }
            } else {
                match longest_prefix(cursor.rest(), stops()) {
                    Err(Undecided) => break,
                    Ok(Some(_)) => {
                        self.field.push_str(&cursor.text[from..cursor.at]);
                        return self.end_field(plan, &field.kind, *to, cursor, out);
                    }
                    Ok(None) => {}
                }
                if empty && node.blanks == Blanks::Free && scalar.is_ascii_whitespace() {
                    cursor.at += 1;
                    from = cursor.at;
                    continue;
                }
                if empty && field.quotes == Quotes::Optional && matches!(scalar, '"' | '\'') {
                    self.quote = Some(scalar);
                    cursor.at += 1;
                    from = cursor.at;
                    continue;
                }
                if empty {
                    match longest_prefix(cursor.rest(), node.again.iter().map(|again| &**again)) {
                        Err(Undecided) => break,
                        Ok(Some(n)) => {
                            cursor.at += node.again[n].len();
                            from = cursor.at;
                            continue;
                        }
                        Ok(None) => {}
                    }
                }
                let ends = match field.blank_stop {
                    BlankStop::None => false,
                    BlankStop::Newline => scalar == '\n',
                    BlankStop::Any => scalar.is_ascii_whitespace(),
                };
                if ends && !empty {
                    self.field.push_str(&cursor.text[from..cursor.at]);
                    return self.end_field(plan, &field.kind, *to, cursor, out);
                }
            }
            let so_far = &cursor.text[from..cursor.at];
            let long = self.field.len() + so_far.len() >= limit;
            if long || !fits(&field.kind, stops(), &self.field, so_far, scalar) {
                return self.bad(cursor, out);
            }
            cursor.at += scalar.len_utf8();
            if node.commit == CommitOn::DeclaredName
                && field.kind == FieldKind::Name
                && !out.calls.committed()
                && self.quote.is_none()
            {
                // Text that no declared name begins with need not wait for its end.
                self.field.push_str(&cursor.text[from..cursor.at]);
                from = cursor.at;
                if !out.calls.tools.may_become(self.field.trim_ascii()) {
                    cursor.at -= scalar.len_utf8();
                    return self.bad(cursor, out);
                }
            }
        }
        self.field.push_str(&cursor.text[from..cursor.at]);
        Step::more(cursor.at)
    }

    /// The field is whole.
    fn end_field(
        &mut self,
        plan: &Plan,
        kind: &FieldKind,
        to: NodeId,
        cursor: &Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Step {
        let field = core::mem::take(&mut self.field);
        let fine = self.take_field(kind, field.trim_ascii(), out);
        self.field = field;
        if !fine {
            return self.bad(cursor, out);
        }
        self.go(plan, to);
        Step::Go
    }

    /// Takes the text of a field for what it is; whether it can be that.
    pub(super) fn take_field(
        &mut self,
        kind: &FieldKind,
        text: &str,
        out: &mut Output<'_>,
    ) -> bool {
        let (name, id) = (&mut self.name, &mut self.id);
        let put = |to: &mut alloc::string::String, text: &str| {
            to.clear();
            to.push_str(text);
            !text.is_empty()
        };
        match kind {
            FieldKind::Name => put(name, text),
            FieldKind::Declared => match declared(text, &out.calls.tools) {
                Some(found) => put(name, found),
                None => false,
            },
            FieldKind::Id => {
                put(id, text);
                true
            }
            FieldKind::IdWithName { prefix, separator } => {
                put(id, text);
                put(name, id_with_name(text, prefix, separator))
            }
            FieldKind::Label | FieldKind::Index | FieldKind::Attributes(_) => true,
        }
    }

    /// In the attributes of a tag, up to and with what ends it.
    fn attributes(
        &mut self,
        plan: &Plan,
        field: &Field,
        to: NodeId,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> Step {
        let FieldKind::Attributes(kinds) = &field.kind else { return self.bad(cursor, out) };
        let Some(header) = &field.header else { return self.bad(cursor, out) };
        match self.attributes.feed(header, out.calls.options.limits.name, cursor) {
            Read::More => return Step::more(cursor.at),
            Read::Bad => return self.bad(cursor, out),
            Read::Done { end, .. } => {
                let attributes = core::mem::take(&mut self.attributes);
                let fine = kinds.iter().enumerate().all(|(n, (_, kind))| {
                    let given = attributes.value(n);
                    let optional = !matches!(kind, FieldKind::Name | FieldKind::IdWithName { .. });
                    given.map_or(optional, |text| self.take_field(kind, text, out))
                });
                self.attributes = attributes;
                if !fine {
                    cursor.at -= 1;
                    return self.mismatch(plan, cursor, out);
                }
                match plan.nodes[usize::from(to)].tags.get(end) {
                    Some(tag) => self.go(plan, tag.to),
                    None => self.go(plan, to),
                }
            }
        }
        Step::Go
    }
}

/// The arguments of a header that leads nowhere else: nothing of them need be seen.
fn only(plan: &Plan, node: &Node) -> Option<LeafId> {
    let [leaf] = node.leaves.as_slice() else { return None };
    let leads_on = !node.tags.is_empty() || node.field.is_some() || !node.sections.is_empty();
    let Leaf { arguments, commit, .. } = &plan.leaves[usize::from(*leaf)];
    let must_look = match arguments {
        Arguments::Object(_) => true,
        Arguments::Value(_) => *commit == CommitOn::DeclaredName,
        _ => false,
    };
    (!leads_on && !must_look).then_some(*leaf)
}

/// Whether the arguments of `leaf` may begin with `rest`, which is not empty.
fn may_begin(leaf: &Leaf, rest: &str) -> bool {
    match leaf.arguments {
        Arguments::Object(_) | Arguments::Value(_) => rest.starts_with('{'),
        Arguments::Parameters(_) | Arguments::Elements(_) => !rest.starts_with('{'),
        Arguments::Keywords(_) | Arguments::Raw { .. } | Arguments::None => true,
    }
}
