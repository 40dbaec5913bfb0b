//! What a device has sorted, checked and passed on: last columns, or two lists of rows for a core to merge.

use super::{Batch, Entry};
use crate::codec::bwt::merge::{Thirds, byte_count, key_count};
use crate::gpu::{DeviceError, Sorted, SortedThirds};
use crate::station::{Begun, Done, Rows, SortedBlock};

/// Passes on the columns.
pub fn columns(batch: &Batch, sorted: Sorted<'_>, reply: &mut dyn FnMut(usize, Done)) -> Result<(), DeviceError> {
    let mut columns = sorted.columns;
    for (entry, &origin) in batch.entries.iter().zip(sorted.origins) {
        let (column, rest) = columns.split_at_checked(entry.len).ok_or_else(too_little)?;
        columns = rest;
        check(entry, column, 0, origin)?;
        begin(entry, Rows::Column(column.to_vec()), origin, reply);
    }
    Ok(())
}

/// Passes on the lists.
pub fn thirds(batch: &Batch, sorted: SortedThirds<'_>, reply: &mut dyn FnMut(usize, Done)) -> Result<(), DeviceError> {
    let (mut keys, mut bytes) = (sorted.keys, sorted.bytes);
    for (entry, &origin) in batch.entries.iter().zip(sorted.origins) {
        let for_keys = keys.split_at_checked(key_count(entry.len)).ok_or_else(too_little)?;
        let for_bytes = bytes.split_at_checked(byte_count(entry.len)).ok_or_else(too_little)?;
        (keys, bytes) = (for_keys.1, for_bytes.1);
        check(entry, for_bytes.0, Thirds::marks(entry.len), origin)?;
        if let Some(thirds) = Thirds::new(for_keys.0.to_vec(), for_bytes.0.to_vec(), entry.len) {
            begin(entry, Rows::Thirds(thirds), origin, reply);
        }
    }
    Ok(())
}

pub fn too_little() -> DeviceError {
    DeviceError::Other("the device gave back too little".to_owned())
}

/// Whether the bytes before the rows are those of the block, and the origin's is its last. The first `marks` of them stand
/// before the end mark.
fn check(entry: &Entry, rows: &[u8], marks: usize, origin: u32) -> Result<(), DeviceError> {
    // The sums do not count the byte before the end mark, but the merge does.
    let mark_is_right = rows[..marks].iter().all(|&byte| byte == entry.turned_last);
    let origin_is_right = rows.get(origin as usize) == Some(&entry.last);
    if mark_is_right && origin_is_right && power_sums(&rows[marks..]) == entry.sums {
        Ok(())
    } else {
        Err(computes_wrongly())
    }
}

pub fn computes_wrongly() -> DeviceError {
    DeviceError::Lost("the device computes wrongly".to_owned())
}

fn begin(entry: &Entry, rows: Rows, origin: u32, reply: &mut dyn FnMut(usize, Done)) {
    let begun = SortedBlock { rows, origin, crc: entry.crc, text_len: entry.text_len };
    reply(entry.index, Done::Begun(Begun::Block(begun)));
}

/// The sums of the bytes and of their squares: the same for a block and its last column.
///
/// Not the cubes: these two are one `psadbw` and one `pmaddwd` for 8 or more bytes on any x86-64, while 32-bit products
/// made this the slowest part of a lane.
pub fn power_sums(bytes: &[u8]) -> [u64; 2] {
    let (mut sum, mut squares) = (0, 0);
    // 16384 squares fit in 31 bits.
    for piece in bytes.chunks(16384) {
        sum += piece.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        squares +=
            piece.iter().map(|&byte| i32::from(i16::from(byte)) * i32::from(i16::from(byte))).sum::<i32>() as u64;
    }
    [sum, squares]
}
