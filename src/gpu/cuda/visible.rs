//! Hides devices from CUDA before it starts: it starts every visible device, whether a lane will use it or not.
//!
//! With four H200s and 64 cores, 12 GB took 2.1 s on the first device while all were visible, and 1.4 s with the others
//! hidden.
#![allow(unsafe_code)]

use super::device::likely;
use std::sync::OnceLock;
use std::{env, fs};

/// The variable that lists the devices that CUDA shows to this process.
const VARIABLE: &str = "CUDA_VISIBLE_DEVICES";

/// The numbers, as users count devices, of those that are left, in CUDA's order.
static SHOWN: OnceLock<Vec<usize>> = OnceLock::new();

/// The entries of the variable, if it is set: those after a bad one do not count.
pub fn entries() -> Option<Vec<String>> {
    env::var(VARIABLE).ok().map(|list| entries_of(&list))
}

fn entries_of(list: &str) -> Vec<String> {
    let names = list.split(',').map(str::trim);
    names.take_while(|name| !name.is_empty() && !name.starts_with('-')).map(str::to_owned).collect()
}

/// The number, as users count devices, of the one that CUDA calls `ordinal`.
pub fn number(ordinal: usize) -> usize {
    SHOWN.get().and_then(|shown| shown.get(ordinal).copied()).unwrap_or(ordinal)
}

/// Hides all devices but those on `list`, or all but the first `most` ones if there is no list.
///
/// Hides none if `list` has names other than numbers, or if the process has other threads, which may read its
/// environment.
pub fn show_only(list: Option<&str>, most: usize) {
    let there = likely();
    let Some(wanted) = wanted(list, most, there) else { return };
    if !is_only_thread() {
        return;
    }
    let value = value(&wanted, entries());
    if SHOWN.set(wanted).is_ok() {
        // SAFETY: there is no other thread that could use the environment.
        unsafe { env::set_var(VARIABLE, value) };
    }
}

/// The numbers of the devices to leave visible. `None` if that is all of them, or if only the driver can understand
/// `list`.
fn wanted(list: Option<&str>, most: usize, there: usize) -> Option<Vec<usize>> {
    let mut wanted: Vec<usize> = Vec::new();
    match list {
        None => wanted.extend(0..most.clamp(1, there.max(1))),
        Some(list) => {
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

/// The value of the variable that leaves the devices `wanted` of those that `before` listed.
fn value(wanted: &[usize], before: Option<Vec<String>>) -> String {
    let name = |&number: &usize| match &before {
        Some(entries) => entries[number].clone(),
        None => number.to_string(),
    };
    wanted.iter().map(name).collect::<Vec<_>>().join(",")
}

fn is_only_thread() -> bool {
    fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        for (list, most, there, left) in [
            (None, 1, 4, Some(&[0][..])),
            (None, 2, 4, Some(&[0, 1])),
            (None, 4, 4, None),
            (None, 9, 4, None),
            (None, 1, 1, None),
            (None, 1, 0, None),
            (Some("3"), 1, 4, Some(&[3])),
            (Some(" 2, 0,2"), 1, 4, Some(&[2, 0])),
            (Some("1,0"), 1, 2, None),
            // The message about these needs all devices.
            (Some("4"), 1, 4, None),
            (Some("0,-1"), 1, 4, None),
            (Some("0,GPU-4f"), 1, 4, None),
            (Some("0,1b:00.0"), 1, 4, None),
            (Some(""), 1, 4, None),
        ] {
            assert_eq!(wanted(list, most, there).as_deref(), left, "{list:?} {most} {there}");
        }
    }

    #[test]
    fn values() {
        assert_eq!(value(&[2, 0], None), "2,0");
        assert_eq!(value(&[1, 2], Some(entries_of("GPU-4f, 5,3"))), "5,3");
    }

    #[test]
    fn other_threads_forbid_it() {
        let (end, ended) = mpsc::channel::<()>();
        let other = thread::spawn(move || ended.recv());
        assert!(!is_only_thread());
        let before = env::var_os(VARIABLE);
        show_only(None, 1);
        assert_eq!((env::var_os(VARIABLE), number(3)), (before, 3));
        drop(end);
        let _ = other.join();
    }
}
