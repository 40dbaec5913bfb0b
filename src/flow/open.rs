//! Opens streams as the settings say.

use super::detect;
use super::one_stream::Driver;
use crate::settings::Settings;
use crate::stream::piece::{BlockOptions, Decoding};

impl Driver {
    pub fn compress(settings: &Settings) -> Driver {
        let (pool, options) = (settings.get_pool(), BlockOptions { count_lines: false, verify: settings.verify });
        Driver::new(pool, settings.encoding.encode(pool, options))
    }

    /// Opens a stream, whose line ends are counted if `lines`.
    pub fn decompress(settings: &Settings, lines: bool) -> Driver {
        let (pool, chunk) = (settings.get_pool().clone(), settings.scan_chunk);
        let (extent, formats) = (settings.extent(), settings.formats);
        let decoding = Decoding { pool, chunk, lines, extent, formats };
        Driver::new(settings.get_pool(), detect::decode(decoding))
    }
}
