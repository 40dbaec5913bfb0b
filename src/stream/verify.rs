//! Coding with verification: every coded block is decoded by another station than the one that made it, before the
//! joiner gets it.
//!
//! ```text
//! text -> code it -> (another core) decode and compare --right--> ticket
//!                          |  wrong
//!                          '-> (a core) code it again -> (another core) decode and compare --right--> ticket
//!                                                                 '--wrong--> Error::Miscoded
//! ```
//!
//! The block that is coded again shows who was wrong. If it has the same bytes, the one that called them wrong was, and
//! a third station decodes them the second time. If not, their maker was. So blame waits for the retry, and falls on one
//! worker once. A core that is alone and calls its own block wrong begins anew before the retry: its encoder or its
//! decoder is sick, and either would spoil the retry as well.
//!
//! Each step is a job of the one queue, put there by the job before it, so nobody waits: the joiner has one ticket for
//! all of them. The later steps are second stages: only cores take them, and before all blocks that nobody has begun.
//! The text is shared by all steps, and the permit of its piece lives until the block is written.

use crate::block::{CodedBlock, Part, Text};
use crate::codec::mismatch::Mismatch;
use crate::error::Error;
use crate::format::hbz::{BlockHeader, StreamHeader};
use crate::schedule::{Deferred, Job, JobError, ProducedBy, Question, Submitter, Ticket};
use crate::work::{BlockJob, Codec, EncodeBlock, EncodeLarge, RecodeBlock, RecodeLarge, VerifyBlock, VerifyLarge};
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
    type Coded: Clone + PartialEq + Send + 'static;
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

/// A block that the joiner may write.
pub(crate) struct Made<C> {
    pub coded: C,
    /// Whether it has been verified.
    pub verified: bool,
    /// Whether it was called wrong at first.
    pub recoded: bool,
}

/// A block that was coded wrong twice.
pub(crate) struct Miscoded {
    station: String,
    reason: Mismatch,
}

/// Where a block arrives.
pub(crate) type MadeTicket<C> = Ticket<Result<Made<C>, Miscoded>>;

/// The block, if it is there; with `wait` it is waited for. Its number is for errors.
pub(super) fn take<C>(ticket: &MadeTicket<C>, wait: bool, block: u64) -> Result<Option<Made<C>>, Error> {
    match ticket.take(wait) {
        None => Ok(None),
        Some(Ok(Ok(made))) => Ok(Some(made)),
        Some(Ok(Err(Miscoded { station, reason }))) => {
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
        duty.send(answer.map(|coded| Ok(Made { coded, verified: false, recoded: false })));
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
    let question = source.encode();
    let submitter = client.submitter().clone();
    let way = Way { source, submitter: submitter.clone(), duty, dispute: None };
    submitter.submit_avoiding(question, None, move |answer, maker| match answer {
        Ok(coded) if verify.wants(&maker) => way.verify(coded, maker, &maker),
        answer => way.end(answer, false),
    });
    ticket
}

/// A block on its way through the steps.
struct Way<S: Source> {
    source: S,
    submitter: Submitter<Codec>,
    duty: Deferred<Result<Made<S::Coded>, Miscoded>>,
    /// If it was called wrong.
    dispute: Option<Dispute<S::Coded>>,
}

/// A block that one station made and another one called wrong: one of the two is not to be trusted.
struct Dispute<C> {
    coded: C,
    maker: ProducedBy,
    by: ProducedBy,
    reason: Mismatch,
    /// Who coded it again, if with the same bytes.
    agrees: Option<ProducedBy>,
}

impl<C> Dispute<C> {
    fn blame_maker(&self, submitter: &Submitter<Codec>) {
        submitter.blame(self.maker, &blamed(submitter, self.reason, self.by));
    }

    /// Blames who was wrong, now that the block that was coded again has been called right.
    fn settle(&self, submitter: &Submitter<Codec>) {
        let Dispute { maker, by, reason, agrees, .. } = self;
        match agrees {
            Some(second) => submitter.blame(
                *by,
                &format!(
                    "a block that it called wrong was right: {reason}, it said ({} coded it, {} the same again)",
                    submitter.name(*maker),
                    submitter.name(*second),
                ),
            ),
            None => self.blame_maker(submitter),
        }
    }
}

fn blamed(submitter: &Submitter<Codec>, reason: Mismatch, by: ProducedBy) -> String {
    format!("a block that it coded was wrong: {reason} ({} decoded it)", submitter.name(by))
}

impl<S: Source> Way<S>
where
    Job<S::Recode>: Into<BlockJob>,
    Job<S::Verify>: Into<BlockJob>,
{
    /// Somebody else than `avoid` decodes the block.
    fn verify(self, coded: S::Coded, maker: ProducedBy, avoid: &ProducedBy) {
        let (question, submitter) = (self.source.verify(coded), self.submitter.clone());
        submitter.submit_avoiding(question, Some(avoid), move |answer, by| match answer {
            Ok((coded, Ok(()))) => {
                self.dispute.iter().for_each(|dispute| dispute.settle(&self.submitter));
                self.end(Ok(coded), true);
            }
            Ok((coded, Err(reason))) => self.again(coded, reason, maker, by),
            Err(error) => self.end(Err(error), false),
        });
    }

    /// What `maker` made is wrong, says `by`.
    fn again(mut self, coded: S::Coded, reason: Mismatch, maker: ProducedBy, by: ProducedBy) {
        if let Some(first) = self.dispute {
            first.blame_maker(&self.submitter);
            self.submitter.blame(maker, &blamed(&self.submitter, reason, by));
            return self.duty.send(Ok(Err(Miscoded { station: self.submitter.name(maker), reason })));
        }
        let dispute = Dispute { coded, maker, by, reason, agrees: None };
        if maker.is(&dispute.by) {
            self.submitter.renew(dispute.by);
        }
        let (question, submitter) = (self.source.recode(), self.submitter.clone());
        submitter.submit_avoiding(question, Some(&maker), move |answer, second| match answer {
            Ok(coded) => {
                let same = coded == dispute.coded;
                let avoid = if same { dispute.by } else { second };
                self.dispute = Some(Dispute { agrees: same.then_some(second), ..dispute });
                self.verify(coded, second, &avoid);
            }
            Err(error) => {
                dispute.blame_maker(&self.submitter);
                self.end(Err(error), false);
            }
        });
    }

    fn end(self, answer: Result<S::Coded, JobError>, verified: bool) {
        let recoded = self.dispute.is_some();
        self.duty.send(answer.map(|coded| Ok(Made { coded, verified, recoded })));
    }
}
