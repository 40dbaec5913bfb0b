//! A fake device for tests: it sorts lines on the CPU and fails as scripted.

use hybz_gpu::{DeviceError, DeviceLane, KeptText, LaneSize, LineOrder, RangeInParts, Result, SortedLines};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The ways in which it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No memory left.
    Memory,
    /// The context is lost.
    Sticky,
    /// The kernel hangs: the call fails after the timeout.
    Hang,
    /// The call succeeds, and a bit in the middle is wrong.
    Wrong,
}

/// A fake lane.
pub struct FakeLane {
    size: LaneSize,
    texts: Vec<u8>,
    sorted: Vec<u8>,
    calls: usize,
    fault: Option<(usize, Fault)>,
}

impl FakeLane {
    /// A lane that fails at call number `fault.0`, from 0, and works before and after that.
    pub fn new(size: LaneSize, fault: Option<(usize, Fault)>) -> Self {
        let texts = vec![0; size.max_blocks * size.max_length];
        FakeLane { size, texts, sorted: Vec::new(), calls: 0, fault }
    }

    /// Fails if it is this call's turn; returns whether the call's result must be wrong.
    fn begin(&mut self, timeout: Duration) -> Result<bool> {
        let fault = self.fault.filter(|(call, _)| *call == self.calls).map(|(_, fault)| fault);
        self.calls += 1;
        match fault {
            Some(Fault::Memory) => Err(DeviceError::Memory("fake: out of memory".to_owned())),
            Some(Fault::Sticky) => Err(DeviceError::Lost("fake: an illegal address".to_owned())),
            Some(Fault::Hang) => {
                std::thread::sleep(timeout.min(Duration::from_millis(10)));
                Err(DeviceError::Lost("fake: it hangs".to_owned()))
            }
            Some(Fault::Wrong) => Ok(true),
            None => Ok(false),
        }
    }
}

impl DeviceLane for FakeLane {
    fn size(&self) -> LaneSize {
        self.size
    }

    fn input(&mut self) -> &mut [u8] {
        &mut self.texts
    }

    fn max_lines(&self) -> u64 {
        self.texts.len() as u64 / 6 + 64
    }

    fn keep(&mut self, bytes: u64) -> Result<Arc<dyn KeptText>> {
        Ok(Arc::new(FakeText(Mutex::new(vec![0; bytes as usize]))))
    }

    fn sort_and_keep(&mut self, length: u32, end: u8, kept: &dyn KeptText, at: u64, timeout: Duration) -> Result<()> {
        let sorted = self.sort_lines(&[length], LineOrder { end, reverse: false }, timeout)?.text;
        text_of(kept)[at as usize..][..length as usize].copy_from_slice(sorted);
        Ok(())
    }

    fn sort_parts(
        &mut self,
        ranges: &[RangeInParts],
        kept: &dyn KeptText,
        order: LineOrder,
        timeout: Duration,
    ) -> Result<SortedLines<'_>> {
        let (mut host, mut whole) = (&self.texts[..], Vec::new());
        for range in ranges {
            let (own, rest) = host.split_at(range.host as usize);
            host = rest;
            whole.extend_from_slice(own);
            range.kept.iter().for_each(|part| {
                whole.extend_from_slice(&text_of(kept)[part.start as usize..part.end as usize]);
            });
        }
        let lengths: Vec<u32> = ranges.iter().map(|range| range.bytes() as u32).collect();
        self.texts[..whole.len()].copy_from_slice(&whole);
        self.sort_lines(&lengths, order, timeout)
    }

    fn sort_lines(&mut self, lengths: &[u32], order: LineOrder, timeout: Duration) -> Result<SortedLines<'_>> {
        let wrong = self.begin(timeout)?;
        self.sorted.clear();
        let mut rest = &self.texts[..];
        for &length in lengths {
            let (range, after) = rest.split_at(length as usize);
            rest = after;
            assert_eq!(range.last(), Some(&order.end), "a range ends with a line");
            let mut lines: Vec<&[u8]> = range[..range.len() - 1].split(|&byte| byte == order.end).collect();
            lines.sort_unstable();
            if order.reverse {
                lines.reverse();
            }
            lines.iter().for_each(|line| self.sorted.extend_from_slice(&[line, &[order.end][..]].concat()));
        }
        if wrong {
            let middle = self.sorted.len() / 2;
            self.sorted[middle] ^= 1;
        }
        Ok(SortedLines { text: &self.sorted })
    }
}

/// The kept text of a fake device.
struct FakeText(Mutex<Vec<u8>>);

impl KeptText for FakeText {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The memory of kept text made by a fake lane.
fn text_of(kept: &dyn KeptText) -> MutexGuard<'_, Vec<u8>> {
    kept.as_any().downcast_ref::<FakeText>().expect("text of a fake lane").0.lock().expect("no panic")
}
