//! Elements, and the JSON values they become.

use super::{
    Elements, ElementsState,
    spec::{ITEM, TEXT},
};
use crate::{
    event::DiagnosticKind,
    limits::MAX_ARGUMENT_DEPTH,
    machine::call_sink::CallSink,
    typing::{TypeSet, declared_at, declares},
    value::escape,
};

/// The kind of JSON value that an element becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementKind {
    /// Not decided: no child elements so far.
    Leaf,
    /// A string that is being emitted.
    String,
    Object,
    List,
}

/// Whether children of one name make a list. For `<b>1</b><b>2</b><c>3</c>` the states are `Begun`,
/// `Once`, `List`, and `Begun` again at `<c>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// Children do not repeat.
    No,
    /// A child may be the first of a list. It was not emitted yet.
    Begun,
    /// A child may be the first of a list. The index is its position in the held output.
    Once(usize),
    /// Children form a list.
    List,
}

/// Returns whether an element is a list, by its declared types and by the name of its first child.
pub(crate) fn holds_list(first: &str, declared: Option<TypeSet>) -> bool {
    let types = declared.unwrap_or(TypeSet::ALL);
    let (list, object) = (types.has(TypeSet::ARRAY), types.has(TypeSet::OBJECT));
    if list == object { first == ITEM } else { list }
}

/// An element that is open.
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub(super) kind: ElementKind,
    /// Offset of the element's name in the concatenated names.
    pub(super) tag: usize,
    /// Offset of the names of inner elements in the concatenated names.
    pub(super) inner: usize,
    /// Length of the tag on the wire.
    pub(super) tag_bytes: u64,
    /// Offset of the element's text in the concatenated texts.
    pub(super) text: usize,
    /// Types that the schema admits for the element.
    pub(super) types: Option<TypeSet>,
    /// Number of children written.
    pub(super) count: usize,
    /// Offset of the last child's name.
    last: Option<usize>,
    repeat: Repeat,
    /// Number of dollar signs that make the name of the text member unique.
    dollars: usize,
    /// Number of text bytes that are dropped.
    pub(super) skipped_bytes: u64,
}

impl Elements {
    /// Adds an open element.
    pub(super) fn push_element(&mut self, kind: ElementKind, types: Option<TypeSet>) {
        self.open.push(Element {
            kind,
            tag: self.tags.len(),
            inner: self.tags.len(),
            tag_bytes: self.tag_bytes,
            text: self.text.len(),
            types,
            count: 0,
            last: None,
            repeat: Repeat::No,
            dollars: 0,
            skipped_bytes: 0,
        });
        self.state = ElementsState::Text;
    }

    /// Opens a child of the innermost element. Returns whether a child is possible.
    pub(super) fn open_element(
        &mut self,
        name: &str,
        offset: usize,
        out: &mut CallSink<'_>,
    ) -> bool {
        let depth = self.open.len();
        let after_text = core::mem::take(&mut self.after_text);
        if after_text && !declares(&out.calls.tools, &self.tool, name) {
            return false;
        }
        match self.open.last().map(|parent| parent.kind) {
            None | Some(ElementKind::String) => return false,
            Some(ElementKind::Leaf) if depth > MAX_ARGUMENT_DEPTH => return false,
            Some(ElementKind::Leaf) => self.decide(name, offset, out),
            Some(ElementKind::Object | ElementKind::List) => {}
        }
        let Some(parent) = self.open.last_mut() else { return false };
        match parent.kind {
            ElementKind::List => self.path.element(parent.count),
            _ => self.path.member(name),
        }
        let tool = out.calls.tools.get(&self.tool);
        let types = tool.and_then(|tool| declared_at(&tool.parameters, self.path.steps()));
        if parent.kind == ElementKind::Object {
            if let Some(dollars) = name.strip_prefix(TEXT)
                && dollars.bytes().all(|byte| byte == b'$')
            {
                parent.dollars = parent.dollars.max(dollars.len().saturating_add(1));
            }
            self.sibling(name, types.is_none() && depth > 1, offset, out);
        }
        self.searched_to = 0;
        if let Some(parent) = self.open.last_mut() {
            self.tags.truncate(parent.inner);
            parent.last = Some(parent.inner);
        }
        self.push_element(ElementKind::Leaf, types);
        self.tags.push_str(name);
        if let Some(child) = self.open.last_mut() {
            child.inner = self.tags.len();
        }
        true
    }

    /// Decides by the name of its first child whether the innermost element is an object or a list.
    fn decide(&mut self, name: &str, offset: usize, out: &mut CallSink<'_>) {
        self.lead(out);
        let Some(element) = self.open.last_mut() else { return };
        let types = element.types.unwrap_or(TypeSet::ALL);
        let (list, object) = (types.has(TypeSet::ARRAY), types.has(TypeSet::OBJECT));
        let is_list = holds_list(name, element.types);
        element.kind = if is_list { ElementKind::List } else { ElementKind::Object };
        self.kept.put(element.kind.brackets().0, out);
        if element.kind == ElementKind::List {
            element.skipped_bytes = self.text[element.text..].trim_ascii().len() as u64;
            self.text.truncate(element.text);
        }
        if !list && !object {
            out.diagnose(DiagnosticKind::Mistyped, offset, 0);
        }
    }

    /// Handles the start of a child of an object. A child with the name of the one before it makes
    /// a list of both.
    fn sibling(&mut self, name: &str, may_repeat: bool, offset: usize, out: &mut CallSink<'_>) {
        let number = self.open.len().saturating_sub(1);
        let parent = &mut self.open[number];
        let same = parent.last.is_some_and(|tag| &self.tags[tag..] == name);
        match parent.repeat {
            Repeat::List if same => {}
            Repeat::Once(place) if same => {
                self.kept.open_list_at(place);
                parent.repeat = Repeat::List;
                if self.kept.is_kept_for(number) {
                    self.kept.flush(out);
                }
            }
            repeat => {
                if repeat == Repeat::List {
                    self.kept.put("]", out);
                }
                if self.kept.is_kept_for(number) {
                    self.kept.flush(out);
                }
                parent.repeat = if may_repeat { Repeat::Begun } else { Repeat::No };
                if may_repeat {
                    let tag = usize::try_from(self.tag_bytes).unwrap_or(usize::MAX);
                    self.kept.keep(number, self.text.len().saturating_add(tag), offset);
                }
            }
        }
    }

    /// Writes the comma and the key before the innermost element's value.
    pub(super) fn lead(&mut self, out: &mut CallSink<'_>) {
        let Some(number) = self.open.len().checked_sub(2) else { return };
        let parent = &mut self.open[number];
        if parent.count > 0 {
            self.kept.put(", ", out);
        }
        parent.count = parent.count.saturating_add(1);
        if parent.repeat == Repeat::List {
            return;
        }
        if let Some(key) = self.path.name() {
            self.kept.put("\"", out);
            escape(key, |piece| self.kept.put(piece, out));
            self.kept.put("\": ", out);
        }
        if parent.repeat == Repeat::Begun {
            parent.repeat = Repeat::Once(self.kept.place());
        }
    }

    /// Closes the innermost element.
    pub(super) fn close_element(&mut self, offset: usize, out: &mut CallSink<'_>) {
        let Some(element) = self.open.last().cloned() else { return };
        if element.kind == ElementKind::Leaf {
            self.write_leaf(&element, offset, out);
        }
        if element.repeat == Repeat::List {
            self.kept.put("]", out);
        }
        if element.kind == ElementKind::Object {
            self.write_text(&element, out);
        }
        self.kept.put(element.kind.brackets().1, out);
        if self.kept.is_kept_for(self.open.len().saturating_sub(1)) {
            self.kept.flush(out);
        }
        if element.skipped_bytes > 0 {
            out.diagnose(DiagnosticKind::Noise, offset, element.skipped_bytes);
        }
        self.open.pop();
        self.path.pop();
        self.text.truncate(element.text);
        self.tags.truncate(element.inner);
        self.bound(out);
        self.state = ElementsState::Text;
    }

    /// Writes text besides elements as a separate member.
    fn write_text(&mut self, element: &Element, out: &mut CallSink<'_>) {
        let text = self.text[element.text..].trim_ascii();
        if text.is_empty() {
            return;
        }
        self.kept.put(if element.count > 0 { ", \"" } else { "\"" }, out);
        escape(TEXT, |piece| self.kept.put(piece, out));
        for _ in 0..element.dollars {
            self.kept.put("$", out);
        }
        self.kept.put("\": \"", out);
        escape(text, |piece| self.kept.put(piece, out));
        self.kept.put("\"", out);
    }

    /// Stops waiting for repetitions if too much output is held.
    pub(super) fn bound(&mut self, out: &mut CallSink<'_>) {
        if self.kept.len() > out.calls.options.limits.value {
            self.kept.flush(out);
            for element in &mut self.open {
                if matches!(element.repeat, Repeat::Begun | Repeat::Once(_)) {
                    element.repeat = Repeat::No;
                }
            }
        }
    }

    /// Closes all open elements.
    pub(super) fn close_all(&mut self, out: &mut CallSink<'_>) {
        self.kept.flush(out);
        while let Some(element) = self.open.pop() {
            if element.repeat == Repeat::List {
                out.arguments("]");
            }
            out.arguments(element.kind.brackets().1);
        }
    }
}
