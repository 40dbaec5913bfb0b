//! Tests factors with fake devices, and with real ones if there are any.

use super::*;
use crate::{factors, measure};
use hybz_gpu::{self as gpu, DeviceLane};
use hybz_testkit::shapes::Rng;
use hybz_testkit::skip::{Need, skip};

/// Corrupts the answer of a lane.
type Spoil = fn(&mut FactorsByDevice, &mut Vec<FactorByDevice>);

/// A fake lane whose work is done by a core.
struct Fake {
    size: LaneSize,
    all: Vec<FactorByDevice>,
    spoil: Spoil,
}

impl DeviceLane for Fake {
    fn size(&self) -> LaneSize {
        self.size
    }

    fn find(&mut self, text: &[u8], _: u32, runs: bool, _: Duration) -> Result<FactorsByDevice, DeviceError> {
        assert!(text.len() >= MIN_DEVICE_BLOCK && text.len() <= self.size.max_length);
        let as_device = |factor| match factor {
            Factor::Letter(letter) => FactorByDevice { source: letter.into(), length: 0 },
            Factor::Copy { source, len } => FactorByDevice { source, length: len },
        };
        self.all = factors(text).unwrap().map(as_device).collect();
        let runs = if runs { measure(text).unwrap().runs as u32 } else { 0 };
        let mut found = FactorsByDevice { factors: self.all.len() as u32, runs, ..FactorsByDevice::default() };
        (self.spoil)(&mut found, &mut self.all);
        Ok(found)
    }

    fn fetch(&mut self, from: u32, count: usize, _: Duration) -> Result<&[FactorByDevice], DeviceError> {
        assert!((1..=MAX_FETCHED).contains(&count));
        Ok(&self.all[from as usize..][..count])
    }
}

fn fake(bytes: usize, spoil: Spoil) -> DeviceFactorizer {
    let open = move |max_length| -> Result<Box<dyn DeviceLane>, DeviceError> {
        Ok(Box::new(Fake { size: LaneSize { max_blocks: 1, max_length }, all: Vec::new(), spoil }))
    };
    DeviceFactorizer::with(Box::new(open), bytes).unwrap()
}

/// Texts of any lengths, with all kinds of factors.
fn texts() -> Vec<Vec<u8>> {
    let mut rng = Rng(7);
    let mut random = |most: usize| rng.below(most);
    let mut all = vec![Vec::new(), b"x".to_vec(), vec![0; 63], vec![0; 64], vec![b'a'; 300_000]];
    for (len, letters) in [(65, 256), (500, 2), (4097, 3), (100_000, 4), (300_000, 256), (1_200_000, 2)] {
        all.push((0..len).map(|_| random(letters) as u8).collect());
    }
    // More factors than one fetch takes.
    all.push((0..4_000_000).map(|_| random(256) as u8).collect());
    let words: Vec<u8> = (0..40_000).flat_map(|_| format!("{} ", random(700) * random(700)).into_bytes()).collect();
    all.push([&words[..], &words[1000..150_000], &words[..]].concat());
    all.push((0..200_001).map(|at| b"ab"[at % 2]).collect());
    all
}

fn check(device: &mut DeviceFactorizer, text: &[u8]) {
    let wanted: Vec<Factor> = factors(text).unwrap().collect();
    assert!(device.factors(text).unwrap() == wanted, "{} bytes", text.len());
    assert_eq!(device.measure(text).unwrap(), measure(text).unwrap(), "{} bytes", text.len());
}

#[test]
fn a_device_factorizes_as_a_core_does() {
    let mut device = fake(1000, |_, _| ());
    for text in texts() {
        check(&mut device, &text);
    }
    assert!(matches!(fitting(MAX_WIDE_BLOCK + 1), Err(DeviceError::Other(_))));
}

/// The core detects wrong factors.
#[test]
fn wrong_factors_are_found() {
    let spoils: [Spoil; 9] = [
        // Another source; a longer factor; a factor split in two; one fewer; wrong letters.
        |_, all| all.iter_mut().rfind(|factor| factor.length > 3).unwrap().source ^= 1,
        |_, all| all.iter_mut().rfind(|factor| factor.length > 3).unwrap().length += 1,
        |found, all| {
            let last = all.pop().unwrap();
            all.push(FactorByDevice { length: last.length - 1, ..last });
            all.push(FactorByDevice { source: last.source + last.length - 1, length: 1 });
            found.factors += 1;
        },
        |found, all| {
            all.pop();
            found.factors -= 1;
        },
        |_, all| all[0].source ^= 1,
        |_, all| *all.last_mut().unwrap() = FactorByDevice { source: b'a'.into(), length: 0 },
        |_, all| all.last_mut().unwrap().source = u32::MAX,
        |found, _| found.factors = 0,
        |found, _| found.runs = 0,
    ];
    let text = b"abcde".repeat(30);
    for (number, spoil) in spoils.into_iter().enumerate() {
        let mut device = fake(1000, spoil);
        let error = device.measure(&text).unwrap_err();
        assert!(matches!(error, DeviceError::Wrong(_)), "{number}: {error}");
        let error = device.factors(&text).unwrap_err();
        assert_eq!(error.to_string(), "the device has failed before", "{number}");
    }
}

/// The same with real devices, if there are any.
#[test]
fn every_gpu_factorizes_as_a_core_does() {
    let devices = match gpu::devices() {
        Ok(devices) => devices,
        Err(why) => return skip(Need::Gpu, &format!("no device: {why}")),
    };
    for device in devices {
        let mut device = DeviceFactorizer::open(Some(&device.uuid), 100_000).unwrap();
        for text in texts() {
            check(&mut device, &text);
        }
        let times: Vec<String> = device.times().map(|(step, time)| format!("{step} {time:.2}")).collect();
        println!("{device:?}: ms of the last text: {}", times.join(", "));
    }
}
