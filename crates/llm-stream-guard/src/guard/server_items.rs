//! Items that the server already separated (calls, reasoning), interleaved with text.

use jail_match::{ByRef, Channel, LimitError, ServerItem, Sink};

use super::{
    Guard, Then,
    cursor::Cursor,
    input::Input,
    output::Chain,
    tokens::{Path, Token},
};

impl Guard {
    /// Records an item at this position that is not text: a call, or a change of the channel of the
    /// following text. Text held as the possible start of markup is emitted as text.
    ///
    /// Returns `false` if nothing was done because a call of the text is still open; see
    /// [`jail_match::Driver::server_item`].
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn server_item<S: Sink + ?Sized>(
        &mut self,
        item: ServerItem,
        sink: &mut S,
    ) -> Result<bool, LimitError> {
        if self.path == Path::Plain {
            return self.cursor.server_item(item, &mut ByRef(sink));
        }
        let mut taken = false;
        self.staged(&mut ByRef(sink), Then::Nothing, |utf8, input, cursor, out| {
            input.end_scalar(utf8, cursor, out)?;
            taken = input.server_item(item, cursor, out)?;
            if taken && item == ServerItem::Call {
                out.call();
            }
            Ok(())
        })?;
        Ok(taken)
    }
}

impl Guard {
    /// Feeds text whose remapped delimiters are already decoded.
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub(crate) fn push_decoded<S: Sink + ?Sized>(
        &mut self,
        text: &str,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if self.input.wire.is_none() {
            return self.push(text, sink);
        }
        self.staged(&mut ByRef(sink), Then::ChunkEnded, |utf8, input, cursor, out| {
            input.end_scalar(utf8, cursor, out)?;
            if let Some(wire) = &mut input.wire {
                wire.pass(text);
            }
            input.text.push(Token::of_text(text), cursor, out)
        })
    }
}

impl Input {
    fn server_item(
        &mut self,
        item: ServerItem,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<bool, LimitError> {
        if self.ended() {
            return Ok(true);
        }
        self.settle(cursor, out)?;
        // Text that an option puts first also comes before reasoning that the server did not
        // separate.
        if matches!(item, ServerItem::Channel(channel) if channel != Channel::CONTENT) {
            self.skip_prepended();
        }
        cursor.server_item(item, out)
    }
}
