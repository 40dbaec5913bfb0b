//! Coding with verification: every coded block is decoded by another station than the one that made it, before the
//! joiner gets it.
//!
//! The steps, and who is blamed for a wrong block, are those of [`schedule::checked`](crate::schedule::checked). The
//! later steps are second stages: only cores take them, and before all blocks that nobody has begun. The joiner has one
//! ticket for all of them. The text is shared by all steps, and the permit of its piece lives until the block is
//! written.

use crate::block::{CodedBlock, Part, Text};
use crate::codec::mismatch::Mismatch;
use crate::error::Error;
use crate::format::hbz::{BlockHeader, StreamHeader};
use crate::schedule::checked::{self, Checked, Made, Miscomputed};
use crate::schedule::{Job, JobError, ProducedBy, Question, Ticket};
use crate::work::{BlockJob, EncodeBlock, EncodeLarge, RecodeBlock, RecodeLarge, VerifyBlock, VerifyLarge};
use crate::{Client, Pool};
use std::sync::Arc;

/// Which coded blocks are decoded again before they are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// None.
    #[default]
    Off,
    /// Those that an accelerator made, or sorted.
    Devices,
    /// All.
    All,
}

impl Verify {
    /// The same as far as it concerns this pool.
    pub(super) fn with(self, pool: &Pool) -> Verify {
        if self == Verify::Devices && !pool.has_accelerators() { Verify::Off } else { self }
    }

    fn wants(self, maker: &ProducedBy) -> bool {
        match self {
            Verify::Off => false,
            Verify::Devices => maker.is_accelerated(),
            Verify::All => true,
        }
    }
}

/// What a block is made from, as often as need be.
pub(super) trait Source: Send + Sync + 'static {
    type Coded: PartialEq + Send + 'static;
    type Encode: Question<Answer = Self::Coded>;
    type Recode: Question<Answer = Self::Coded>;
    type Verify: Question<Answer = (Self::Coded, Result<(), Mismatch>)>;
    fn encode(&self) -> Self::Encode;
    fn recode(&self) -> Self::Recode;
    fn verify(&self, coded: Self::Coded) -> Self::Verify;
}

/// The text of a block of a `.bz2` stream.
impl Source for Text {
    type Coded = CodedBlock;
    type Encode = EncodeBlock;
    type Recode = RecodeBlock;
    type Verify = VerifyBlock;

    fn encode(&self) -> EncodeBlock {
        EncodeBlock::Text(self.clone())
    }

    fn recode(&self) -> RecodeBlock {
        RecodeBlock(self.clone())
    }

    fn verify(&self, block: CodedBlock) -> VerifyBlock {
        VerifyBlock { text: self.clone(), block }
    }
}

/// The same text so that clones share its bytes. (A run-length-coded one is copied, a few hundred kilobytes.)
pub(super) fn shared(text: Text) -> Text {
    match text {
        Text::Plain(bytes) => {
            let range = 0..bytes.len();
            Text::Parts(vec![Part { bytes: Arc::new(bytes), range }])
        }
        text => text,
    }
}

/// A block of a `.hbz` stream.
pub(super) struct LargeText {
    pub text: Arc<Vec<u8>>,
    pub number: u32,
    pub stream: StreamHeader,
}

impl Source for LargeText {
    type Coded = (BlockHeader, Vec<u8>);
    type Encode = EncodeLarge;
    type Recode = RecodeLarge;
    type Verify = VerifyLarge;

    fn encode(&self) -> EncodeLarge {
        EncodeLarge::Text { text: Arc::clone(&self.text), number: self.number, stream: self.stream }
    }

    fn recode(&self) -> RecodeLarge {
        RecodeLarge { text: Arc::clone(&self.text), number: self.number, stream: self.stream }
    }

    fn verify(&self, coded: Self::Coded) -> VerifyLarge {
        VerifyLarge { text: Arc::clone(&self.text), number: self.number, stream: self.stream, coded }
    }
}

/// Where a block arrives that the joiner may write.
pub(crate) type MadeTicket<C> = Ticket<Result<Made<C>, Miscomputed<Mismatch>>>;

/// The block, if it is there; with `wait` it is waited for. Its number is for errors.
pub(super) fn take<C>(ticket: &MadeTicket<C>, wait: bool, block: u64) -> Result<Option<Made<C>>, Error> {
    match ticket.take(wait) {
        None => Ok(None),
        Some(Ok(Ok(made))) => Ok(Some(made)),
        Some(Ok(Err(Miscomputed { station, reason }))) => {
            Err(Error::Miscoded { block, station, reason: reason.to_string() })
        }
        Some(Err(JobError(reason))) => Err(Error::Internal { block, reason }),
    }
}

/// Has a block coded by whoever is first, and not verified.
pub(super) fn code<Q: Question>(client: &Client, question: Q) -> MadeTicket<Q::Answer>
where
    Job<Q>: Into<BlockJob>,
{
    let (duty, ticket) = Ticket::with_duty();
    client.submit_then(question, |answer| {
        duty.send(answer.map(|answer| Ok(Made { answer, verified: false, retried: false })));
    });
    ticket
}

/// Has a block coded by whoever is first, and verified if `verify` wants it.
pub(super) fn code_verified<S: Source>(client: &Client, source: S, verify: Verify) -> MadeTicket<S::Coded>
where
    Job<S::Encode>: Into<BlockJob>,
    Job<S::Recode>: Into<BlockJob>,
    Job<S::Verify>: Into<BlockJob>,
{
    let (duty, ticket) = Ticket::with_duty();
    checked::submit(client.submitter(), Verified { source, verify }, |coded| duty.send(coded));
    ticket
}

/// A block that is verified if `verify` wants it.
struct Verified<S> {
    source: S,
    verify: Verify,
}

impl<S: Source> Checked for Verified<S> {
    type Answer = S::Coded;
    type Wrong = Mismatch;
    type Ask = S::Encode;
    type Retry = S::Recode;
    type Check = S::Verify;
    const WORDS: [&'static str; 3] = ["a block", "coded", "decoded"];

    fn ask(&self) -> S::Encode {
        self.source.encode()
    }

    fn retry(&self) -> S::Recode {
        self.source.recode()
    }

    fn check(&self, coded: S::Coded) -> S::Verify {
        self.source.verify(coded)
    }

    fn wants(&self, _: &S::Coded, by: ProducedBy) -> bool {
        self.verify.wants(&by)
    }

    fn is_same(a: &S::Coded, b: &S::Coded) -> bool {
        a == b
    }
}
