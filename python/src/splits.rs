//! Parts of a `.bz2` file by its compressed bytes, without an index.

use crate::errors::{Stream, of_io_in};
use crate::source::{Shared, Source};
use crate::{read_whole, result, threads};
use hybz::ReadAt;
use hybz::seek::SplitReader;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// The text of the blocks that begin in bytes `begin` to `end` of a `.bz2` file. `source`, `base` and `name` are those
/// of a reader.
#[pyfunction]
#[pyo3(signature = (source, base, begin, end, threads, name = None))]
pub(crate) fn read_split<'py>(
    source: &Bound<'py, PyAny>,
    base: Option<u64>,
    begin: u64,
    end: u64,
    threads: i64,
    name: Option<String>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = source.py();
    let settings = threads::settings(threads)?;
    let source = Shared(Arc::new(Source::of(source, base, name)));
    let text = py.detach(|| {
        let file: Arc<dyn ReadAt> = Arc::new(source.clone());
        let reader = SplitReader::new(file, begin..end, false, &settings);
        let raised = |error| source.0.raised().unwrap_or_else(|| of_io_in(error, Stream::Pieces));
        read_whole(reader, raised).map_err(|error| source.0.named(error))
    })?;
    result(py, text)
}
