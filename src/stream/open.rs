//! Opens streams as the settings say.

use super::bzip2::split::BlockOptions;
use super::driver::Driver;
use super::piece::Decoding;
use super::{bzip2, detect, hbz, lz4};
use crate::settings::Settings;

impl Driver {
    pub fn compress(settings: &Settings) -> Driver {
        let pool = settings.get_pool();
        Driver::new(
            pool,
            match (settings.lz4, settings.large_blocks) {
                (Some(frame), _) => lz4::encode(frame),
                (None, None) => {
                    let options = BlockOptions { count_lines: false, verify: settings.verify };
                    bzip2::encode(settings.level, settings.streams, options)
                }
                (None, Some(large)) => hbz::encode(large, pool, settings.verify),
            },
        )
    }

    pub fn decompress(settings: &Settings) -> Driver {
        Self::decompress_as(settings, false)
    }

    /// The same with line ends counted.
    pub fn decompress_counting(settings: &Settings) -> Driver {
        Self::decompress_as(settings, true)
    }

    fn decompress_as(settings: &Settings, lines: bool) -> Driver {
        let (pool, chunk) = (settings.get_pool().clone(), settings.scan_chunk);
        let (extent, formats) = (settings.extent(), settings.formats);
        let decoding = Decoding { pool, chunk, lines, extent, formats };
        Driver::new(settings.get_pool(), detect::decode(decoding))
    }
}
