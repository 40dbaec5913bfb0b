//! What is known about future work: the inputs that are being read, and how much of them has arrived.

use std::time::Duration;

/// The inputs of a pool.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// The number of inputs that are being read, and the number of these with an unknown length.
    reading: usize,
    unknown: usize,
    /// The number of bytes announced, and of bytes that have arrived.
    announced: u64,
    came: u64,
    /// The time at which the first bytes arrived, and their number.
    first: Option<(Duration, u64)>,
}

impl Inputs {
    /// Records that a new input is being read; `bytes` is its length if that is known.
    pub fn begin(&mut self, bytes: Option<u64>) {
        self.reading += 1;
        match bytes {
            Some(bytes) => self.announced += bytes,
            None => self.unknown += 1,
        }
    }

    /// Records that an input has been read to its end.
    pub fn end(&mut self, bytes: Option<u64>) {
        self.reading -= 1;
        self.unknown -= usize::from(bytes.is_none());
        if self.reading == 0 {
            // Announced bytes that have not arrived will not come any more.
            self.announced = self.came;
        }
    }

    /// Forgets the inputs so far, all of which are done: they tell nothing about later inputs, and a pool may live for
    /// days.
    pub fn forget(&mut self) {
        if self.reading == 0 {
            *self = Inputs::default();
        }
    }

    /// Records that `bytes` have arrived.
    pub fn add(&mut self, now: Duration, bytes: u64) {
        self.came += bytes;
        self.first.get_or_insert((now, bytes));
    }

    /// Whether an input is being read.
    pub fn more_comes(&self) -> bool {
        self.reading > 0
    }

    /// The bytes a second since the first bytes arrived, or 0 while that tells nothing: bytes that arrive all together
    /// may have been read long before.
    pub fn rate(&self, now: Duration) -> f64 {
        const BURST: u64 = 32 << 20;
        let Some((since, first)) = self.first else { return 0.0 };
        if self.came - first < BURST {
            return 0.0;
        }
        (self.came - first) as f64 / now.saturating_sub(since).as_secs_f64().max(1e-3)
    }

    /// An estimate of the bytes still to come. For an input of unknown length it is as much as has arrived.
    pub fn to_come(&self) -> f64 {
        let announced = self.announced.saturating_sub(self.came) as f64;
        let unknown = self.unknown > 0 || self.announced == 0;
        announced.max(if unknown { self.came as f64 } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_to_come() {
        let mut inputs = Inputs::default();
        inputs.begin(Some(1000));
        inputs.add(SECOND, 300);
        assert_eq!(inputs.to_come(), 700.0);
        // The second input's length is unknown.
        inputs.begin(None);
        inputs.add(SECOND, 500);
        assert_eq!(inputs.to_come(), 800.0);
        inputs.end(None);
        assert_eq!(inputs.to_come(), 200.0);
        inputs.forget();
        assert!(inputs.more_comes());
        // The file was shorter than announced.
        inputs.end(Some(1000));
        assert!(!inputs.more_comes());
        inputs.forget();
        assert_eq!(inputs.to_come(), 0.0);
        // If no input is announced, the input is expected to go on as it began.
        inputs.add(SECOND, 100);
        assert_eq!(inputs.to_come(), 100.0);
    }

    #[test]
    fn how_fast_it_comes() {
        let mut inputs = Inputs::default();
        inputs.begin(None);
        for (seconds, bytes, rate) in [(10, 100 << 20, 0.0), (10, 1 << 20, 0.0), (11, 127 << 20, 128.0), (12, 0, 64.0)]
        {
            inputs.add(seconds * SECOND, bytes);
            assert_eq!(inputs.rate(seconds * SECOND) / f64::from(1 << 20), rate, "{seconds} s");
        }
        inputs.end(None);
        inputs.forget();
        assert_eq!(inputs.rate(20 * SECOND), 0.0);
    }
}
