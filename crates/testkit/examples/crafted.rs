//! Writes the crafted `.bz2` files into a folder, for tests in other languages: `N.bz2`, with `N.text` (the text) or
//! `N.good` (the text before the damage of a file that bzip2 refuses).

use hybz_testkit::crafted::{Expect, cases};
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("the folder"));
    std::fs::create_dir_all(&folder)?;
    for (number, case) in cases::all().into_iter().enumerate() {
        let (end, text) = match case.expect {
            Expect::Accepted(text) => ("text", text),
            Expect::Refused { good, .. } => ("good", good),
        };
        std::fs::write(folder.join(format!("{number}.bz2")), case.file)?;
        std::fs::write(folder.join(format!("{number}.{end}")), text)?;
    }
    Ok(())
}
