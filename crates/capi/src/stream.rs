//! Streams compressed or decompressed piece by piece, by the library's writers, which write to the caller's buffer.

use crate::{argument, call, coding, hand_out, hybz_pool, hybz_status, input, null, room, settings, take_back};
use hybz::write::{BzEncoder, MultiBzDecoder};
use std::ffi::c_char;
use std::io::{self, Write};
use std::mem::take;
use std::ptr::NonNull;

/// What hybz_stream_code does in addition to taking input and giving output.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum hybz_action {
    /// Nothing: output comes when it is ready, so threads work while the caller prepares the next call.
    HYBZ_RUN = 0,
    /// Gives all output for the input so far. A compressor ends its block, as bzip2 does: do this rarely.
    HYBZ_FLUSH = 1,
    /// Ends the stream, and gives all output. A decompressor's input must be complete.
    HYBZ_FINISH = 2,
}

/// A stream to compress or decompress. Only one thread at a time may use it, but it need not always be the same one.
pub struct hybz_stream(Option<Box<dyn Coder>>);

/// The caller's output buffer, which a coder has only during a call.
type Room = &'static mut [u8];

/// A coder of either direction.
trait Coder: Write + Send {
    fn finish(&mut self) -> io::Result<()>;
    fn room(&mut self) -> &mut Room;
    fn cancel(self: Box<Self>);
}

macro_rules! coder {
    ($name:ident) => {
        impl Coder for $name<Room> {
            fn finish(&mut self) -> io::Result<()> {
                self.try_finish()
            }
            fn room(&mut self) -> &mut Room {
                self.get_mut()
            }
            fn cancel(self: Box<Self>) {
                $name::cancel(*self);
            }
        }
    };
}
coder!(BzEncoder);
coder!(MultiBzDecoder);

impl Drop for hybz_stream {
    /// Cancels the work for the rest of the stream.
    fn drop(&mut self) {
        if let Some(coder) = self.0.take() {
            coder.cancel();
        }
    }
}

/// Begins to compress one `.bz2` stream at this level, 1 to 9, with the stations of `pool` (null: the process's own).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_stream_compress(
    pool: *const hybz_pool,
    level: i32,
    stream: *mut *mut hybz_stream,
    error: *mut c_char,
) -> hybz_status {
    // SAFETY: by the contract.
    unsafe {
        let make = || Ok(hybz_stream(Some(Box::new(BzEncoder::with_settings(Room::default(), &coding(pool, level)?)))));
        call(error, || hand_out(stream, make))
    }
}

/// Begins to decompress all consecutive streams of an input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_stream_decompress(
    pool: *const hybz_pool,
    stream: *mut *mut hybz_stream,
    error: *mut c_char,
) -> hybz_status {
    // SAFETY: by the contract.
    unsafe {
        let make = || Ok(hybz_stream(Some(Box::new(MultiBzDecoder::with_settings(Room::default(), &settings(pool))))));
        call(error, || hand_out(stream, make))
    }
}

/// Takes input and writes output until the buffer is full. HYBZ_OK: all input is taken, and the action is done.
/// HYBZ_MORE: the buffer is full; call again with the same action, the rest of the input and more space. `taken` and
/// `made` get the numbers of bytes, even after an error. After damage each call returns the same error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_stream_code(
    stream: *mut hybz_stream,
    action: i32,
    r#in: *const u8,
    in_len: usize,
    taken: *mut usize,
    out: *mut u8,
    out_len: usize,
    made: *mut usize,
    error: *mut c_char,
) -> hybz_status {
    let work = || {
        let (taken, made) = NonNull::new(taken).zip(NonNull::new(made)).ok_or_else(null)?;
        // SAFETY: by the contract. The coder has the buffer up to the `take`; if it panics before that, it writes
        // nothing until the next call gives it another buffer.
        let result = unsafe {
            taken.write(0);
            made.write(0);
            let coder = stream.as_mut().and_then(|stream| stream.0.as_mut()).ok_or_else(null)?;
            let mut rest = input(r#in, in_len)?;
            *coder.room() = room(out, out_len)?;
            let result = code(&mut **coder, &mut rest, action);
            let left = take(coder.room()).len();
            taken.write(in_len - rest.len());
            made.write(out_len - left);
            result
        };
        match result {
            Ok(()) => Ok(hybz_status::HYBZ_OK),
            // The writer's slice is full.
            Err(error) if error.kind() == io::ErrorKind::WriteZero => Ok(hybz_status::HYBZ_MORE),
            Err(error) => Err(match error.downcast::<hybz::Error>() {
                Ok(error) => error.into(),
                Err(error) => argument(&error.to_string()),
            }),
        }
    };
    // SAFETY: by the contract.
    unsafe { call(error, work) }
}

/// Takes input and does the action. `rest` gets the input that is not taken.
fn code(coder: &mut dyn Coder, rest: &mut &[u8], action: i32) -> io::Result<()> {
    let finish = action == hybz_action::HYBZ_FINISH as i32;
    if !finish && action != hybz_action::HYBZ_FLUSH as i32 && action != hybz_action::HYBZ_RUN as i32 {
        return Err(io::Error::other("there is no such action"));
    }
    // The last write has no input: it gives the output that has become ready meanwhile.
    while coder.write(rest).map(|n| *rest = &rest[n..]).map(|()| !rest.is_empty())? {}
    match action {
        _ if finish => coder.finish(),
        _ if action == hybz_action::HYBZ_FLUSH as i32 => coder.flush(),
        _ => Ok(()),
    }
}

/// Frees a stream, finished or not. Work that is underway is cancelled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hybz_stream_free(stream: *mut hybz_stream) {
    // SAFETY: by the contract.
    unsafe { take_back(stream) }
}
