//! The results made from good blocks: one file, which appears when it is complete, or a file for each block.

use crate::cli::args::{Plan, Recovery};
use crate::cli::files::{Place, Sink, SourceFile};
use crate::cli::messages::Failure;
use crate::cli::modes::bzip2recover::result_name;
use crate::cli::modes::single::{self, Trouble};
use hybz::Error;
use hybz::recover::{Block, Hole, Rejoiner};
use std::io::{self, BufWriter, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub struct Results {
    made: Made,
    place: Option<Place>,
    private: bool,
    replace: bool,
    /// The length of the last good block's text.
    last_len: Option<u64>,
    /// Lost blocks whose zeros are not written yet, because no good block came before them.
    owed: u64,
    pub guessed: bool,
}

enum Made {
    Text(Sink),
    Fill(Sink),
    Bz2(Box<Rejoiner<Sink>>),
    Split(Vec<PathBuf>),
}

impl Results {
    /// Results that go to the file `place` or to stdout; those of [`Recovery::Split`] go next to that file.
    pub fn new(kind: Recovery, place: Option<Place>, private: bool, plan: &Plan) -> Result<Results, Failure> {
        let holes = !plan.no_sparse && matches!(kind, Recovery::Text | Recovery::Fill);
        let out = || single::create(place.as_ref(), private, plan.force, holes);
        let made = match kind {
            Recovery::Text => Made::Text(out()?),
            Recovery::Fill => Made::Fill(out()?),
            Recovery::Bz2 => Made::Bz2(Box::new(Rejoiner::new(out()?))),
            Recovery::Split => Made::Split(Vec::new()),
        };
        Ok(Results { made, place, private, replace: plan.force, last_len: None, owed: 0, guessed: false })
    }

    pub fn name(&self) -> PathBuf {
        match (&self.made, &self.place) {
            (Made::Split(made), Some(place)) => split_name(place.path(), made.len() as u64 + 1),
            (_, place) => place.as_ref().map_or(Path::new("(stdout)"), Place::path).to_owned(),
        }
    }

    pub fn block(&mut self, block: &Block) -> Result<(), Error> {
        let (owed, len) = (std::mem::take(&mut self.owed), block.text_len());
        match &mut self.made {
            Made::Text(out) => block.write_text(out)?,
            Made::Fill(out) => {
                zeros(out, owed * self.last_len.unwrap_or(len))?;
                block.write_text(out)?;
            }
            Made::Bz2(out) => out.push(block)?,
            Made::Split(made) => {
                let Some(place) = &self.place else { return Ok(()) };
                let place = place.beside(split_name(place.path(), made.len() as u64 + 1));
                let file = single::new_file(&place, self.private, false).map_err(Error::Write)?;
                let mut one = Rejoiner::new(BufWriter::new(file));
                one.push(block)?;
                let file = one.finish()?.into_inner().map_err(|e| Error::Write(e.into_error()))?;
                file.publish(self.replace).map_err(Error::Write)?;
                made.push(place.path().to_owned());
            }
        }
        self.last_len = Some(len);
        Ok(())
    }

    pub fn hole(&mut self, hole: &Hole) -> Result<(), Error> {
        let Made::Fill(out) = &mut self.made else { return Ok(()) };
        if let Some(len) = hole.text_len {
            return zeros(out, len);
        }
        self.guessed = true;
        let blocks = if hole.bits.is_empty() { 0 } else { hole.blocks.max(1) };
        match self.last_len {
            Some(len) => zeros(out, blocks * len),
            None => {
                self.owed += blocks;
                Ok(())
            }
        }
    }

    /// Gives the file its name. Returns the names of all files that were made.
    pub fn finish(self, source: Option<&SourceFile>, plan: &Plan) -> Result<Vec<PathBuf>, Trouble> {
        let name = self.name();
        let out = match self.made {
            Made::Text(out) | Made::Fill(out) => out,
            Made::Bz2(out) => out.finish().map_err(|error| match error {
                Error::Write(e) => single::write_trouble(name.as_os_str(), &e),
                error => Failure::internal(name.as_os_str(), &error).into(),
            })?,
            Made::Split(made) => return Ok(made),
        };
        single::finish(out, source, plan)?;
        Ok(self.place.iter().map(|place| place.path().to_owned()).collect())
    }
}

fn zeros(out: &mut Sink, count: u64) -> Result<(), Error> {
    io::copy(&mut io::repeat(0).take(count), out).map(drop).map_err(Error::Write)
}

/// `rec00001NAME.bz2` next to NAME, as bzip2recover names it.
pub fn split_name(path: &Path, number: u64) -> PathBuf {
    result_name(path.as_os_str().as_bytes(), number).into()
}
