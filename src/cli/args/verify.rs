//! What is verified while compressing, and which flags do not go with it.

use super::flags::{Flags, Verified};
use super::task::{Mode, Operand, Target};
use anyhow::bail;
use hybz::Verify;

/// What is verified before a source is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyPlan {
    /// Which blocks are decoded before they are written.
    pub blocks: Verify,
    /// Whether source and result are read again from the disk and compared.
    pub file: bool,
}

/// What the flags ask for.
pub fn verify(
    flags: &Flags,
    mode: Mode,
    target: &Target,
    operands: &[Operand],
    remove_sources: bool,
) -> anyhow::Result<VerifyPlan> {
    let Some(verified) = flags.verify else {
        let by_itself = mode == Mode::Compress && remove_sources && !flags.no_verify;
        return Ok(VerifyPlan { blocks: if by_itself { Verify::Devices } else { Verify::Off }, file: false });
    };
    let flag = if verified == Verified::File { "--verify=file" } else { "--verify" };
    let other = match mode {
        _ if flags.recover.is_some() => "--recover",
        _ if flags.list => "-l",
        Mode::Compress => "",
        Mode::Decompress => "-d",
        Mode::Test => "-t",
    };
    if !other.is_empty() {
        bail!("{flag} is about compressing: it cannot be used together with {other}.");
    }
    if verified == Verified::File {
        if *target == Target::Stdout {
            bail!("--verify=file reads the result again from the disk: it cannot be used together with -c.");
        }
        if operands.contains(&Operand::Stdin) {
            bail!("--verify=file reads the input file again from the disk: it cannot be used with stdin.");
        }
        if flags.no_sync {
            bail!("--verify=file reads what is on the disk: it cannot be used together with --no-sync.");
        }
    }
    Ok(VerifyPlan { blocks: Verify::All, file: verified == Verified::File })
}

#[cfg(test)]
mod tests {
    use super::super::{Plan, Request, parse};
    use super::*;
    use std::ffi::OsStr;

    fn plan(words: &str) -> Plan {
        match parse(OsStr::new("hybz"), words.split_whitespace().map(Into::into), |_| None) {
            Ok(Request::Run(plan)) => plan,
            _ => panic!("{words}"),
        }
    }

    /// What a GPU made is verified by itself only where a source is to go.
    #[test]
    fn what_is_verified_by_itself() {
        for (words, blocks) in [
            ("a", Verify::Devices),
            ("--rm -o b a", Verify::Devices),
            ("--block-size 9M a", Verify::Devices),
            ("-k a", Verify::Off),
            ("-c a", Verify::Off),
            ("-o b a", Verify::Off),
            ("--no-verify a", Verify::Off),
            ("-d a.bz2", Verify::Off),
            ("-k --verify a", Verify::All),
            ("--verify --no-verify a", Verify::Off),
            ("--no-verify --verify=file a", Verify::All),
        ] {
            assert_eq!(plan(words).verify.blocks, blocks, "{words}");
        }
        assert!(plan("--verify=file a").verify.file && !plan("--verify a").verify.file);
    }
}
