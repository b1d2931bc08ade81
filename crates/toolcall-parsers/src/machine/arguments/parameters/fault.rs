//! Faults in a parameter, and the position after them.
//!
//! ```text
//! <parameter=meta>{"k": 1 <parameter=body>see <tool_call>…</parameter>
//!                                         ^ the fault was found after this header, whose value
//!                                           quotes a call
//! ```

use super::{Parameters, ParametersState};
use crate::{
    cursor::Progress,
    machine::{
        arguments::{parameters::ParameterSpec, value::Fed},
        call_sink::CallSink,
    },
};

impl Parameters {
    /// Begins the value after the header that ended the last one.
    pub(super) fn begin_next(
        &mut self,
        spec: &ParameterSpec,
        node: usize,
        out: &mut CallSink<'_>,
    ) -> Option<Progress> {
        self.header_len = self.value.pending_len();
        core::mem::swap(&mut self.header, self.value.next());
        self.begin_value(spec, node, out)
    }

    /// Ends the call at a fault in a value. If the header of the next one was read, its value
    /// follows, and a call in it is quoted.
    pub(super) fn fault(
        &mut self,
        spec: &ParameterSpec,
        fed: Fed,
        out: &mut CallSink<'_>,
    ) -> Option<Progress> {
        if let Fed::Header(node) = fed {
            let was_quiet = core::mem::replace(&mut out.calls.quiet, true);
            self.in_next = self.begin_next(spec, node, out).is_none();
            out.calls.quiet = was_quiet;
        }
        Some(Progress::Bad)
    }

    /// Gives up the parameter with a fault.
    pub(crate) fn abandon(&mut self) {
        if !core::mem::take(&mut self.in_next) {
            self.state = ParametersState::Between;
        }
    }

    /// Returns the length of a text that looked like a header and made the call malformed.
    pub(crate) fn faulty_header_len(&self) -> u64 {
        if matches!(self.state, ParametersState::Value(_)) {
            self.value.faulty_header_len()
        } else {
            0
        }
    }
}
