//! The records of an index, in memory or in a file.

use crate::error::Error;
use crate::index::bzi::{HEADER_LEN, IndexHeader, Record};
use crate::read_at::{ReadAt, fill_at};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// An index up to this length is read with one request, because a request to a server costs more than this many bytes.
const SMALL: u64 = 64 << 10;
/// The number of records of a longer index read with one request: at least 4 KiB.
const PAGE: u64 = 128;
/// The number of such pages kept.
const PAGES: usize = 32;

/// The storage of the records.
pub(super) enum Records {
    Memory(Vec<Record>),
    /// Read on demand. Holds the most recently used pages, the latest at the end.
    File(Arc<dyn ReadAt>, Mutex<Vec<Page>>),
}

/// Consecutive records: the number of the first, and their bytes.
pub(super) struct Page {
    first: u64,
    bytes: Vec<u8>,
}

impl Records {
    /// Opens the records of an index file with this header.
    pub fn open(file: Arc<dyn ReadAt>, header: &IndexHeader) -> Result<Records, Error> {
        if file.len() > SMALL {
            return Ok(Records::File(file, Mutex::default()));
        }
        let page = read_page(&*file, header, 0, header.records)?;
        let all: Result<_, Error> = (0..header.records).map(|number| page.get(number, header)).collect();
        Ok(Records::Memory(all?))
    }

    /// The record with this number.
    pub fn get(&self, number: u64, header: &IndexHeader) -> Result<Record, Error> {
        let (file, pages) = match self {
            Records::Memory(records) => {
                let record = usize::try_from(number).ok().and_then(|number| records.get(number));
                return record.copied().ok_or(Error::BadIndex("a record is missing"));
            }
            Records::File(file, pages) => (file, pages),
        };
        let mut pages = pages.lock().unwrap_or_else(PoisonError::into_inner);
        let first = number / PAGE * PAGE;
        let page = match pages.iter().position(|page| page.first == first) {
            Some(at) => pages.remove(at),
            None => {
                if pages.len() == PAGES {
                    pages.remove(0);
                }
                read_page(&**file, header, first, PAGE.min(header.records.saturating_sub(first)))?
            }
        };
        let record = page.get(number, header);
        pages.push(page);
        record
    }
}

impl Page {
    fn get(&self, number: u64, header: &IndexHeader) -> Result<Record, Error> {
        let at = (number - self.first) as usize * header.record_len();
        let bytes = self.bytes.get(at..at + header.record_len());
        bytes
            .and_then(|bytes| Record::parse(bytes, number, header))
            .ok_or(Error::BadIndex("a record has a wrong check"))
    }
}

fn read_page(file: &dyn ReadAt, header: &IndexHeader, first: u64, count: u64) -> Result<Page, Error> {
    let len = header.record_len();
    let mut bytes = vec![0; count as usize * len];
    let filled = fill_at(file, &mut bytes, HEADER_LEN as u64 + first * len as u64).map_err(Error::Read)?;
    bytes.truncate(filled);
    Ok(Page { first, bytes })
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Records::Memory(_) => "Memory",
            Records::File(..) => "File",
        })
    }
}
