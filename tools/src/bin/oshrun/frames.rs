//! The frames exchanged between the hub of a job over several nodes and the launcher on each node,
//! over the remote shell's standard input and output.
//!
//! ```text
//!  | length u32 | kind u8 | who u32 | bytes ... | newline |       numbers are little endian
//! ```
//!
//! Slurm's `srun` passes on what a command writes when a line ends, hence the newline. A frame is
//! taken before its newline arrives, so that the first frame of a version without newlines, which
//! names that version, is understood.

use super::matrix;
use std::fmt;

/// The type of a frame. The meaning of `who` depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// Node to hub, first: introduces the node (`super::begin`).
    Hello = b'H',
    /// Hub to node: describes the job and the node's part in it.
    Begin = b'B',
    /// Node to hub: the record of the node's agent.
    Agent = b'A',
    /// Hub to node: the record of the agent of node `who`.
    Table = b'T',
    /// Node to hub: standard output of PE `who`.
    Output = b'O',
    /// Node to hub: standard error of PE `who`.
    Error = b'E',
    /// Node to hub: a message of its launcher.
    Say = b'M',
    /// Hub to node: standard input of PE 0; no bytes mean its end. Node to hub: PE 0 has taken
    /// `who` more bytes.
    Input = b'I',
    /// Hub to node: signal `who` for all PEs.
    Signal = b'S',
    /// Node to hub: PE `who` has ended properly, with a status other than 0.
    Exit = b'X',
    /// Node to hub: the job has to end. `who` says whose states to report; the bytes are the abort
    /// word and a message.
    Fail = b'F',
    /// Hub to node: end the job. `who` as above; the bytes are the abort word.
    Kill = b'K',
    /// Node to hub: whether all the node's PEs wait for others (`who` is 1 or 0). Hub to node:
    /// report what the PEs wait for.
    Still = b'W',
    /// Hub to node: standard output (`who` is 0) or standard error (1) has no reader any more.
    Cut = b'C',
    /// Node to hub: row `who` of the communication matrix (`super::matrix`).
    Row = b'R',
    /// Node to hub: all the node's PEs have ended, and all frames are sent.
    Done = b'D',
    /// Hub to node: all nodes are done.
    Leave = b'Q',
}

impl FrameKind {
    const ALL: [Self; 17] = [
        Self::Hello,
        Self::Begin,
        Self::Agent,
        Self::Table,
        Self::Output,
        Self::Error,
        Self::Say,
        Self::Input,
        Self::Signal,
        Self::Exit,
        Self::Fail,
        Self::Kill,
        Self::Still,
        Self::Cut,
        Self::Row,
        Self::Done,
        Self::Leave,
    ];

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }

    /// The maximum size of a frame of this kind.
    fn limit(self) -> usize {
        match self {
            // It contains the command line and the environment.
            Self::Begin => 64 << 20,
            Self::Row => matrix::ROW_BYTES,
            _ => 1 << 20,
        }
    }
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its type.
    pub kind: FrameKind,
    /// Depends on the kind.
    pub who: u32,
    /// Depends on the kind.
    pub bytes: Vec<u8>,
}

const HEADER: usize = 9;
const END: u8 = b'\n';

/// Appends a frame to `to`.
///
/// # Panics
/// If there are more bytes than a frame of this kind may have.
pub fn write(to: &mut Vec<u8>, kind: FrameKind, who: u32, bytes: &[u8]) {
    assert!(bytes.len() <= kind.limit(), "{} bytes in a frame {kind:?}", bytes.len());
    to.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    to.push(kind as u8);
    to.extend_from_slice(&who.to_le_bytes());
    to.extend_from_slice(bytes);
    to.push(END);
}

/// Bytes that are not a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidFrame(Vec<u8>);

impl fmt::Display for InvalidFrame {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.0);
        write!(f, "{:?}", text.lines().next().unwrap_or_default())
    }
}

/// Finds frames in a stream of bytes.
#[derive(Debug, Default)]
pub struct Parser {
    bytes: Vec<u8>,
    /// How many of the bytes are parsed.
    done: usize,
    /// Whether the newline of a frame that was taken comes next.
    ends: bool,
}

impl Parser {
    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.done);
        self.done = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next frame, if it is complete.
    pub fn next(&mut self) -> Result<Option<Frame>, InvalidFrame> {
        if self.ends {
            match self.bytes.get(self.done) {
                Some(&END) => self.done += 1,
                Some(_) => return Err(self.garbage()),
                None => return Ok(None),
            }
            self.ends = false;
        }
        let rest = &self.bytes[self.done..];
        let Some((header, rest)) = rest.split_at_checked(HEADER) else { return Ok(None) };
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| header[at + i]));
        let (length, who) = (number(0) as usize, number(5));
        let kind = FrameKind::of(header[4]).filter(|kind| length <= kind.limit());
        let Some(kind) = kind else { return Err(self.garbage()) };
        let Some(bytes) = rest.get(..length) else { return Ok(None) };
        let frame = Frame { kind, who, bytes: bytes.to_vec() };
        self.done += HEADER + length;
        self.ends = true;
        Ok(Some(frame))
    }

    /// Whether there is an incomplete frame.
    pub fn has_part(&self) -> bool {
        self.done < self.bytes.len()
    }

    /// The first unparsed bytes, for a message.
    pub fn garbage(&self) -> InvalidFrame {
        let rest = &self.bytes[self.done..];
        InvalidFrame(rest[..rest.len().min(80)].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(parser: &mut Parser) -> Result<Vec<Frame>, InvalidFrame> {
        std::iter::from_fn(|| parser.next().transpose()).collect()
    }

    fn frames() -> impl Strategy<Value = Vec<Frame>> {
        let kind = (0..FrameKind::ALL.len()).prop_map(|index| FrameKind::ALL[index]);
        let bytes = prop::collection::vec(any::<u8>(), 0..300);
        let frame = (kind, any::<u32>(), bytes);
        prop::collection::vec(frame.prop_map(|(kind, who, bytes)| Frame { kind, who, bytes }), 0..9)
    }

    fn written(frames: &[Frame]) -> Vec<u8> {
        let mut bytes = Vec::new();
        frames.iter().for_each(|frame| write(&mut bytes, frame.kind, frame.who, &frame.bytes));
        bytes
    }

    proptest! {
        #[test]
        fn frames_survive_the_way_in_whatever_pieces(frames in frames(), piece in 1usize..50) {
            let mut parser = Parser::default();
            let mut read = Vec::new();
            for piece in written(&frames).chunks(piece) {
                parser.push(piece);
                read.extend(parse(&mut parser).unwrap());
            }
            prop_assert_eq!(read, frames);
            prop_assert!(!parser.has_part());
        }

        #[test]
        fn a_frame_cut_short_is_not_taken(frames in frames(), cut in 2usize..9) {
            prop_assume!(!frames.is_empty());
            let bytes = written(&frames);
            let mut parser = Parser::default();
            parser.push(&bytes[..bytes.len() - cut]);
            let read = parse(&mut parser).unwrap();
            prop_assert_eq!(&read[..], &frames[..frames.len() - 1]);
            prop_assert!(parser.has_part());
        }

        #[test]
        fn garbage_neither_panics_nor_stalls(
            bytes in prop::collection::vec(any::<u8>(), 0..2000)
        ) {
            let mut parser = Parser::default();
            parser.push(&bytes);
            match parse(&mut parser) {
                Ok(frames) => prop_assert!(written(&frames).len() <= bytes.len() + 1),
                Err(garbage) => prop_assert!(garbage.to_string().len() < 1000),
            }
        }
    }

    #[test]
    fn what_is_no_frame_is_refused_at_its_header() {
        let too_long = (matrix::ROW_BYTES as u32 + 1).to_le_bytes();
        for (bytes, why) in [
            (&b"\x01\x00\x00\x00Z\x00\x00\x00\x00"[..], "an unknown kind"),
            (&b"\xff\xff\xff\xffO\x00\x00\x00\x00"[..], "too long"),
            (&b"\x01\x00\x00\x04B\x00\x00\x00\x00"[..], "too long a beginning"),
            (&[&too_long[..], b"R\x00\x00\x00\x00"].concat(), "too long a row"),
            (&b"Welcome to node17\n"[..], "words"),
        ] {
            let mut parser = Parser::default();
            parser.push(bytes);
            assert!(parser.next().is_err(), "{why}");
        }
        let mut parser = Parser::default();
        parser.push(b"\x01\x00\x00\x00D\x00\x00\x00\x00ab");
        assert!(parser.next().is_ok_and(|frame| frame.is_some()), "a frame without its newline");
        assert!(parser.next().is_err(), "something else instead of the newline");

        let mut parser = Parser::default();
        parser.push(b"Welcome to node17\nHave a nice day\n");
        let garbage = parser.next().unwrap_err();
        assert_eq!(garbage.to_string(), "\"Welcome to node17\"");
    }
}
