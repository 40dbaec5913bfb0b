//! `--recover`: writes the good blocks of damaged files to new files, and reports the losses, in words or as JSON.

mod report;
mod result;

use crate::cli::args::{Operand, Plan, Recovery, Target};
use crate::cli::files::source_file;
use crate::cli::files::{Place, appended, check_file, index, original_name};
use crate::cli::messages::formats::other_than_bzip2;
use crate::cli::messages::{Failure, Messages, Note, broken_pipe, print_stdout};
use crate::cli::modes::single::{self, Trouble, write_trouble};
use crate::cli::modes::{limits, undecoded};
use hybz::index::Index;
use hybz::recover::{Found, recover as recover_blocks};
use hybz::{Error, Format, Pool, ReadAt, Settings};
use hybz_files::quote::shown;
use hybz_files::stdout;
use report::Story;
use result::Results;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

pub fn recover(plan: Plan) -> anyhow::Result<u8> {
    let plan = Arc::new(plan);
    let messages = Messages::new(&plan);
    if plan.json.is_some() {
        print_stdout(b"")?;
    }
    let rescuer = Rescuer { pool: limits::pool(&plan), plan, messages };
    for operand in &rescuer.plan.operands {
        let mut story = Story::default();
        let recovered = rescuer.operand(operand, &mut story);
        rescuer.messages.progress.counts.input_done(None);
        let failure = match recovered {
            Err(Trouble::BrokenPipe) => return Err(broken_pipe()),
            Err(Trouble::Failure(failure)) => Some(failure),
            _ => None,
        };
        rescuer.messages.progress.end();
        rescuer.tell(operand.name(), &story, failure)?;
    }
    Ok(single::end(&rescuer.plan.target, &rescuer.messages))
}

struct Rescuer {
    plan: Arc<Plan>,
    pool: Pool,
    messages: Messages,
}

impl Rescuer {
    fn operand(&self, operand: &Operand, story: &mut Story) -> Result<(), Trouble> {
        let name = operand.name();
        let read_error = |e: io::Error| Failure::input("read", name, &e);
        let (source, mut file) = source_file::open(&self.plan, operand, "read compressed data from", true)?;
        check_file(name, &mut file, "--recover")?;
        let mut head = [0; Format::HEAD_LEN];
        let len = file.read_at(&mut head, 0).map_err(read_error)?;
        if let Some(format) = other_than_bzip2(&head[..len]) {
            let text = format!(" is {}: --recover works only with .bz2.", format.file());
            return Err(Failure::about(1, "", name, &text).into());
        }
        let place = source.as_ref().map(|source| &source.place);
        let index = self.index(place, &file)?;
        let mut results = self.results(name, place, &file.metadata().map_err(read_error)?)?;
        let settings = Settings::new().pool(&self.pool);
        let outcome = recover_blocks(&file, &settings, index.as_ref(), |found| match found {
            Found::Block(block) => {
                self.messages.progress.advance(name, block.bits.end / 8);
                story.block(&block);
                results.block(&block)
            }
            Found::Hole(hole) => {
                story.hole(&hole);
                results.hole(&hole)
            }
            Found::Remark(remark) => {
                story.remark(&remark);
                Ok(())
            }
            _ => Ok(()),
        });
        self.messages.progress.counts.advance(file.len());
        story.found = match outcome {
            Ok(found) => found,
            Err(error) => return Err(self.trouble(name, &results, error)),
        };
        if story.found.blocks == 0 && (story.found.streams == 0 || story.found.holes > 0) {
            return Err(Failure::about(1, "", name, ": it has no good block of a .bz2.").into());
        }
        story.guessed = results.guessed;
        story.results = results.finish(source.as_ref(), &self.plan)?;
        Ok(())
    }

    fn trouble(&self, name: &OsStr, results: &Results, error: Error) -> Trouble {
        match error {
            Error::Write(e) => write_trouble(results.name().as_os_str(), &e),
            Error::BadIndex(_) | Error::NewerIndex { .. } => index::failure(name, &error).into(),
            _ => undecoded(&self.plan, name, &error).into(),
        }
    }

    fn index(&self, operand: Option<&Place>, coded: &File) -> Result<Option<Index>, Failure> {
        let open = |place: &Place| {
            let file = index::open_file(place)?;
            Index::open_unchecked(Arc::new(file), coded).map_err(|error| index::failure(place.name(), &error))
        };
        let mut remark = None;
        let found = index::wanted(&self.plan, operand, open, "recovering", &mut remark)?;
        remark.into_iter().for_each(|remark| self.messages.print(&Note::Remark(remark)));
        Ok(found.map(|(_, index)| index))
    }

    fn results(&self, operand: &OsStr, source_place: Option<&Place>, source: &Metadata) -> Result<Results, Failure> {
        let kind = self.plan.recover.unwrap_or_default();
        let place = match (&self.plan.target, source_place) {
            (Target::File(path), _) => {
                let opened = Place::opened(path, source_place);
                Some(opened.map_err(|e| Failure::output("create", path.as_os_str(), &e))?)
            }
            (Target::Stdout, _) | (_, None) => None,
            (_, Some(place)) if kind == Recovery::Split => Some(place.clone()),
            (_, Some(place)) => {
                let path = place.path();
                let original = original_name(path, &self.plan).unwrap_or_else(|| path.to_owned());
                let suffix = if kind == Recovery::Bz2 { ".recovered.bz2" } else { ".recovered" };
                Some(place.beside(appended(&original, OsStr::new(suffix))))
            }
        };
        if place.is_none() && kind == Recovery::Bz2 && stdout::is_terminal() {
            return Err(Failure::terminal(&self.plan.program, "write compressed data to"));
        }
        if kind != Recovery::Split {
            single::check(place.as_ref(), [(operand, source.clone())].into_iter(), self.plan.force)?;
        }
        Results::new(kind, place, source_place.is_some(), &self.plan)
    }

    fn tell(&self, name: &OsStr, story: &Story, failure: Option<Failure>) -> anyhow::Result<()> {
        let code = match &failure {
            Some(failure) => failure.code,
            None if story.found.holes > 0 => 2,
            None => 0,
        };
        if self.plan.json.is_some() {
            print_stdout(&story.json(name, failure.as_ref(), code))?;
        }
        for (lost, line) in &story.lines {
            let text = [shown(name).as_bytes(), b": ", line.as_bytes()].concat();
            match failure.is_none() && *lost {
                true => self.messages.print(&Note::Failure(Failure::new(2, text))),
                false => self.messages.print(&Note::Remark(text)),
            }
        }
        match failure {
            Some(failure) => self.messages.print(&Note::Failure(failure)),
            None => self.messages.print(&Note::Remark(story.summary(name))),
        }
        Ok(())
    }
}
