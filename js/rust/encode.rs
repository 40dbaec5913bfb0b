//! Compression.

use super::with;
use hybz::Level;
use hybz::push::Encoder;

/// Begins to encode at this level; at 9 if the level is not 1 to 9.
#[unsafe(no_mangle)]
pub extern "C" fn encoder(level: u32) {
    let level = u8::try_from(level).ok().and_then(Level::try_new).unwrap_or(Level::BEST);
    with(|it| it.encoder = Some(Box::new(Encoder::new(level))));
}

/// Adds the first `len` bytes of the buffer `room` to the text.
#[unsafe(no_mangle)]
pub extern "C" fn push_text(len: usize) {
    with(|it| {
        let bytes = &it.room[..len.min(it.room.len())];
        if let Some(encoder) = &mut it.encoder {
            encoder.push(bytes);
        }
    });
}

/// The text is complete.
#[unsafe(no_mangle)]
pub extern "C" fn finish_text() {
    with(|it| it.encoder.iter_mut().for_each(|encoder| encoder.finish()));
}

/// Makes the next coded bytes.
#[unsafe(no_mangle)]
pub extern "C" fn coded() -> i32 {
    with(|it| match it.encoder.as_mut().and_then(|encoder| encoder.coded()) {
        Some(bytes) => {
            it.out.lend(bytes);
            1
        }
        None => 0,
    })
}
