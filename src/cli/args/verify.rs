//! Verification while compressing.

use super::choices::Verified;
use super::kind::Given;
use super::task::Target;
use anyhow::bail;
use hybz::Verify;

/// The checks before a source is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyPlan {
    /// Which blocks to decode before they are written.
    pub blocks: Verify,
    /// Whether to read source and result again from the disk and compare them.
    pub file: bool,
}

impl VerifyPlan {
    pub const NOTHING: VerifyPlan = VerifyPlan { blocks: Verify::Off, file: false };

    /// The verification that the flags ask for. Blocks made by a device are verified without a flag if the source is to
    /// be removed.
    pub fn new(given: &Given<'_>, target: &Target, remove_sources: bool) -> anyhow::Result<VerifyPlan> {
        let asked = given.flags.verify;
        let Some(verified) = asked.filter(|&asked| asked != Verified::None) else {
            let by_itself = remove_sources && asked.is_none();
            return Ok(VerifyPlan { blocks: if by_itself { Verify::Devices } else { Verify::Off }, file: false });
        };
        let file = verified == Verified::File;
        if file && *target == Target::Stdout {
            bail!("--verify=file reads the result again from the disk: it cannot be used together with -c.");
        }
        if file && given.reads_stdin() {
            bail!("--verify=file reads the input file again from the disk: it cannot be used with stdin.");
        }
        if file && given.flags.no_sync {
            bail!("--verify=file reads what is on the disk: it cannot be used together with --no-sync.");
        }
        Ok(VerifyPlan { blocks: Verify::All, file })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::super::{FilesMode, Mode};
    use super::*;

    fn verified(words: &str) -> VerifyPlan {
        match plan(words).mode {
            Mode::Files(files) => FilesMode::verify(&files),
            mode => panic!("{words}: {mode:?}"),
        }
    }

    /// Without a flag, blocks made by a GPU are verified only if the source is to be removed.
    #[test]
    fn what_is_verified_by_itself() {
        for (words, blocks) in [
            ("a", Verify::Devices),
            ("--rm -o b a", Verify::Devices),
            ("--block-size 9M a", Verify::Devices),
            ("-k a", Verify::Off),
            ("-c a", Verify::Off),
            ("-o b a", Verify::Off),
            ("--verify=none a", Verify::Off),
            ("-d a.bz2", Verify::Off),
            ("-k --verify a", Verify::All),
            ("--verify --verify=none a", Verify::Off),
            ("--verify=none --verify=file a", Verify::All),
        ] {
            assert_eq!(verified(words).blocks, blocks, "{words}");
        }
        assert!(verified("--verify=file a").file && !verified("--verify a").file);
    }
}
