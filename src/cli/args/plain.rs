//! Command lines that need no parser: names of files, and flags without values, alone or in clusters (`-dc`, `-9kv`).
//!
//! For a file of 1 kB, building and running clap's parser takes a third of all instructions of a call.

use super::choices::LevelFlags;
use super::flags::Flags;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The flags and files that `words` give, as clap would read them. None if only clap can read them.
pub fn read(words: &[OsString]) -> Option<Flags> {
    let mut flags = Flags::default();
    for word in words {
        match word.as_bytes() {
            [] | [b'-', b'-', ..] => return None,
            [b'-', letters @ ..] if !letters.is_empty() => {
                letters.iter().try_for_each(|letter| set(&mut flags, *letter))?;
            }
            _ => flags.files.push(word.clone()),
        }
    }
    Some(flags)
}

/// Sets the flag of this letter. None if it has a value or is not of daily use.
fn set(flags: &mut Flags, letter: u8) -> Option<()> {
    match letter {
        b'c' => flags.stdout = true,
        b'd' | b't' | b'z' => {
            // The last one counts.
            (flags.decompress, flags.test, flags.compress) = (letter == b'd', letter == b't', letter == b'z');
        }
        b'f' => flags.force = true,
        b'k' => flags.keep = true,
        b'q' => flags.quiet = flags.quiet.saturating_add(1),
        b's' => flags.small = true,
        b'v' => flags.verbose = flags.verbose.saturating_add(1),
        b'1'..=b'9' => flags.level = LevelFlags(Some(letter - b'0')),
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn same_as_clap_or_left_to_it() {
        let many = format!("-{}", "v".repeat(300));
        let plain = ["", "x", "-", "- x", "-dc", "-d -c x y", "-cdtz", "-dzt a -k", "-9kvvq -1", "-fsz -vqqq a", &many];
        for line in plain.into_iter().chain(["-9 -8 -c -", "-cccc -ff -kk -ss -dd"]) {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let parsed = Flags::read(&mut Flags::command(), &words).expect("good flags");
            assert_eq!(format!("{:?}", read(&words).expect("plain")), format!("{parsed:?}"), "{line}");
        }
        for line in ["--", "--keep", "-p2", "-dcp", "-l", "-r x", "-x", "x -o y", "-h", "-dcV", "-kL", "-\u{e9}"] {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            assert!(read(&words).is_none(), "{line}");
        }
        assert!(read(&["".into()]).is_none());
    }
}
