//! Finds out, without CUDA, which devices CUDA will show to this process, and hides some of them before CUDA starts:
//! it starts every visible device, whether a lane will use the device or not.
//!
//! With four H200s and 64 cores, 12 GB took 2.1 s on the first device while all were visible, and 1.4 s with the others
//! hidden.
#![allow(unsafe_code)]

use super::super::Shown;
use std::path::Path;
use std::sync::OnceLock;
use std::{env, fs};

/// The variable that lists the devices that CUDA shows to this process.
const VARIABLE: &str = "CUDA_VISIBLE_DEVICES";

/// The devices left visible, in CUDA's order, by the numbers that users give them.
static SHOWN: OnceLock<Vec<usize>> = OnceLock::new();

/// The likely number of devices. It reads /dev, which is fast; asking the driver takes tenths of a second.
pub fn likely() -> usize {
    likely_of(device_files())
}

/// The likely number of devices, if /dev has this many.
fn likely_of(files: usize) -> usize {
    entries().map_or(files, |entries| files.min(entries.len()))
}

/// The number of devices that /dev has.
fn device_files() -> usize {
    let is_device = |name: &str| {
        name.strip_prefix("nvidia")
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let names = fs::read_dir("/dev").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let count = names.filter(|name| name.to_str().is_some_and(is_device)).count();
    // Under WSL one file serves all devices.
    if count == 0 && Path::new("/dev/dxg").exists() { 1 } else { count }
}

/// The entries of the variable, if it is set: those after a bad one do not count.
fn entries() -> Option<Vec<String>> {
    env::var_os(VARIABLE).map(|list| entries_of(&list.to_string_lossy()))
}

fn entries_of(list: &str) -> Vec<String> {
    let names = list.split(',').map(str::trim);
    names.take_while(|name| !name.is_empty() && !name.starts_with('-')).map(str::to_owned).collect()
}

/// The number that users give to the device that CUDA calls `ordinal`.
pub fn number(ordinal: usize) -> usize {
    SHOWN.get().and_then(|shown| shown.get(ordinal).copied()).unwrap_or(ordinal)
}

/// Hides all other devices.
///
/// Hides none if the list or the variable has names other than numbers of devices, or if the process has other threads,
/// which may read its environment: the thread that `ulimit -s` can make necessary is one.
pub fn show_only(shown: Shown<'_>) {
    hide(shown, device_files());
}

/// Like [`show_only`], where there are this many devices.
fn hide(shown: Shown<'_>, files: usize) {
    let entries = entries().unwrap_or_else(|| (0..files).map(|number| number.to_string()).collect());
    if let Some(wanted) = wanted(shown, entries.len())
        && let Some(value) = value(&wanted, &entries, files)
        && is_only_thread()
        && SHOWN.set(wanted).is_ok()
    {
        // SAFETY: there is no other thread that could use the environment.
        unsafe { env::set_var(VARIABLE, value) };
    }
}

/// The numbers of the devices to leave visible. `None` if that is all of them, or if only the driver can understand the
/// list.
fn wanted(shown: Shown<'_>, there: usize) -> Option<Vec<usize>> {
    let mut wanted: Vec<usize> = Vec::new();
    match shown {
        Shown::First(most) => wanted.extend(0..most.clamp(1, there.max(1))),
        Shown::These(list) => {
            for name in list.split(',') {
                let number = name.trim().parse().ok().filter(|&number| number < there)?;
                if !wanted.contains(&number) {
                    wanted.push(number);
                }
            }
        }
    }
    (wanted.len() < there).then_some(wanted)
}

/// The value of the variable that leaves the wanted ones of its `entries`. `None` unless all entries are different
/// numbers of devices: CUDA ignores a bad entry and all after it, and only CUDA knows which UUIDs there are.
fn value(wanted: &[usize], entries: &[String], files: usize) -> Option<String> {
    let numbers: Option<Vec<usize>> =
        entries.iter().map(|entry| entry.parse().ok().filter(|&number| number < files)).collect();
    let numbers = numbers?;
    let different = numbers.iter().enumerate().all(|(i, number)| !numbers[..i].contains(number));
    let left: Vec<String> = wanted.iter().map(|&number| numbers[number].to_string()).collect();
    different.then(|| left.join(","))
}

fn is_only_thread() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hybz_testkit::fork::in_child;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn entries_before_a_bad_one() {
        for (list, count) in [("", 0), ("-1", 0), ("0", 1), ("1, 0", 2), ("0,-1,1", 1), ("GPU-4f,GPU-5e", 2), ("0,", 1)]
        {
            assert_eq!(entries_of(list).len(), count, "{list}");
        }
    }

    #[test]
    fn devices_to_leave() {
        for (shown, there, left) in [
            (Shown::First(1), 4, Some(&[0][..])),
            (Shown::First(2), 4, Some(&[0, 1])),
            (Shown::First(4), 4, None),
            (Shown::First(9), 4, None),
            (Shown::First(1), 1, None),
            (Shown::First(1), 0, None),
            (Shown::These("3"), 4, Some(&[3])),
            (Shown::These(" 2, 0,2"), 4, Some(&[2, 0])),
            (Shown::These("1,0"), 2, None),
            // The error message about these lists needs all devices visible.
            (Shown::These("4"), 4, None),
            (Shown::These("0,-1"), 4, None),
            (Shown::These("0,GPU-4f"), 4, None),
            (Shown::These("0,1b:00.0"), 4, None),
            (Shown::These(""), 4, None),
        ] {
            assert_eq!(wanted(shown, there).as_deref(), left, "{shown:?} {there}");
        }
    }

    #[test]
    fn values() {
        for (wanted, before, files, value_then) in [
            (&[2, 0][..], "0,1,2", 3, Some("2,0")),
            (&[1, 2], "4, 5,3", 6, Some("5,3")),
            (&[0], "0,9", 4, None),
            (&[0], "0,0", 4, None),
            (&[0], "GPU-4f,GPU-5e", 4, None),
        ] {
            assert_eq!(value(wanted, &entries_of(before), files).as_deref(), value_then, "{before}");
        }
    }

    #[test]
    fn hiding() {
        in_child("hiding", || {
            assert!(is_only_thread());
            // SAFETY: there is no other thread.
            unsafe { env::set_var(VARIABLE, "3,0,2") };
            hide(Shown::These("2,0"), 4);
            assert_eq!(env::var(VARIABLE).as_deref(), Ok("2,3"));
            assert_eq!((number(0), number(1), likely_of(4)), (2, 0, 2));
            // The second time nothing changes.
            hide(Shown::First(1), 4);
            assert_eq!(env::var(VARIABLE).as_deref(), Ok("2,3"));
        });
        in_child("other threads forbid it", || {
            let (end, ended) = mpsc::channel::<()>();
            let other = thread::spawn(move || ended.recv());
            // SAFETY: the other thread does not use the environment.
            unsafe { env::remove_var(VARIABLE) };
            hide(Shown::First(1), 4);
            assert_eq!((env::var(VARIABLE).is_err(), number(3)), (true, 3));
            drop(end);
            let _ = other.join();
            hide(Shown::First(1), 4);
            assert_eq!(env::var(VARIABLE).as_deref(), Ok("0"));
        });
    }
}
