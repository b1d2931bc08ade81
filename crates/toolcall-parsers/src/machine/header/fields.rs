//! Reading of a header's fields: names, ids, labels and attributes.

use crate::{
    cursor::{Undecided, longest_prefix},
    family::CommitOn,
    machine::{
        arguments::attributes::AttributeRead,
        call::{Machine, MachineStep},
        call_sink::CallSink,
        field::{declared, fits, id_with_name},
        plan::{BlankRule, BlankStop, FieldKind, HeaderField, NodeId, Plan, Quotes},
        state::MachineState,
    },
};

impl Machine {
    /// Starts the field of the current node.
    pub(in crate::machine) fn begin_field(&mut self, plan: &Plan) {
        self.state = MachineState::Field;
        self.header.field.clear();
        self.header.quote = None;
        let field = plan.node(self.place.node).field.as_ref();
        if let Some(header) = field.and_then(|(field, _)| field.header.as_ref()) {
            self.header.attributes.begin(header);
        }
    }

    /// Reads the text of a field.
    pub(in crate::machine) fn field(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let node = plan.node(self.place.node);
        let Some((field, to)) = &node.field else { return self.bad(out) };
        if field.header.is_some() {
            return self.attributes(field, *to, out);
        }
        let limit = out.calls.options.limits.name;
        let stops = || field.stops.iter().map(|stop| &**stop);
        let mut from = out.cursor.at;
        while let Some(scalar) = out.cursor.rest().chars().next() {
            let empty = self.header.field.is_empty() && out.cursor.at == from;
            if let Some(quote) = self.header.quote {
                if scalar == quote {
                    self.header.field.push_str(&out.cursor.text[from..out.cursor.at]);
                    out.cursor.advance(1);
                    return self.end_field(&field.kind, *to, out);
                }
            } else {
                // A name cannot be empty, so there is no need to wait for its end yet.
                let named = matches!(field.kind, FieldKind::Name | FieldKind::Declared);
                let stops = stops().filter(|_| !(empty && named));
                match longest_prefix(out.cursor.rest(), stops) {
                    Err(Undecided) => break,
                    Ok(Some(_)) => {
                        self.header.field.push_str(&out.cursor.text[from..out.cursor.at]);
                        return self.end_field(&field.kind, *to, out);
                    }
                    Ok(None) => {}
                }
                if empty && node.blanks == BlankRule::Free && scalar.is_ascii_whitespace() {
                    out.cursor.advance(1);
                    from = out.cursor.at;
                    continue;
                }
                if empty && field.quotes == Quotes::Optional && matches!(scalar, '"' | '\'') {
                    self.header.quote = Some(scalar);
                    out.cursor.advance(1);
                    from = out.cursor.at;
                    continue;
                }
                if empty {
                    match longest_prefix(out.cursor.rest(), node.again.iter().map(|again| &**again))
                    {
                        Err(Undecided) => break,
                        Ok(Some(n)) => {
                            out.cursor.advance(node.again[n].len());
                            from = out.cursor.at;
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
                    self.header.field.push_str(&out.cursor.text[from..out.cursor.at]);
                    return self.end_field(&field.kind, *to, out);
                }
            }
            let so_far = &out.cursor.text[from..out.cursor.at];
            let long = self.header.field.len().saturating_add(so_far.len()) >= limit;
            if long || !fits(&field.kind, stops(), [&self.header.field, so_far], scalar) {
                self.header.field.push_str(so_far);
                let text = core::mem::take(&mut self.header.field);
                let named = field.kind.is_name() && !long;
                let named = named && self.take_field(&field.kind, text.trim_ascii(), out);
                self.header.field = text;
                return if named { self.broken_header(*to, out) } else { self.bad(out) };
            }
            out.cursor.advance(scalar.len_utf8());
            if node.commit.is_by_name()
                && field.kind == FieldKind::Name
                && !out.calls.committed()
                && self.header.quote.is_none()
            {
                // Reject text that cannot become a declared name, without waiting for its end.
                self.header.field.push_str(&out.cursor.text[from..out.cursor.at]);
                from = out.cursor.at;
                // A trailing blank does not change the name.
                let tools = &out.calls.tools;
                let may_be = !(node.commit == CommitOn::Foreign && tools.is_empty())
                    && tools.may_become(self.header.field.trim_ascii());
                if !scalar.is_ascii_whitespace() && !may_be {
                    out.cursor.back(scalar.len_utf8());
                    return self.bad(out);
                }
            }
        }
        self.header.field.push_str(&out.cursor.text[from..out.cursor.at]);
        MachineStep::more(out.cursor.at)
    }

    /// Ends a field whose text is complete.
    fn end_field(&mut self, kind: &FieldKind, to: NodeId, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let field = core::mem::take(&mut self.header.field);
        let fine = self.take_field(kind, field.trim_ascii(), out);
        self.header.field = field;
        if !fine {
            return self.bad(out);
        }
        self.go(plan, to);
        MachineStep::Go
    }

    /// Stores the text of a field. Returns whether the text is valid for its kind.
    fn take_field(&mut self, kind: &FieldKind, text: &str, out: &mut CallSink<'_>) -> bool {
        let (name, id) = (&mut self.call.name, &mut self.call.id);
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

    /// Reads the attributes of a tag, and the end of the tag.
    fn attributes(
        &mut self,
        field: &HeaderField,
        to: NodeId,
        out: &mut CallSink<'_>,
    ) -> MachineStep {
        let plan = out.plan;
        let FieldKind::Attributes(kinds) = &field.kind else { return self.bad(out) };
        let Some(header) = &field.header else { return self.bad(out) };
        match self.header.attributes.feed(header, out.calls.options.limits.name, &mut out.cursor) {
            AttributeRead::More => return MachineStep::more(out.cursor.at),
            AttributeRead::Bad => return self.bad(out),
            AttributeRead::Done { end, len } => {
                let attributes = core::mem::take(&mut self.header.attributes);
                let fine = kinds.iter().enumerate().all(|(n, (_, kind))| {
                    let given = attributes.value(n);
                    let optional = !matches!(kind, FieldKind::Name | FieldKind::IdWithName { .. });
                    given.map_or(optional, |text| self.take_field(kind, text, out))
                });
                self.header.attributes = attributes;
                if !fine {
                    out.cursor.back(len);
                    return self.mismatch(out);
                }
                match plan.node(to).tags.get(end) {
                    Some(tag) => self.go(plan, tag.to),
                    None => self.go(plan, to),
                }
            }
        }
        MachineStep::Go
    }
}
