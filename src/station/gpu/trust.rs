//! The checks of everything that a device returns.
//!
//! A column must hold the same bytes as its block: the sums of the bytes and of their squares are compared, and the
//! origin's row must end in the block's last byte. A device that fails such a check computes wrong results, and gets no
//! more work. Its earlier blocks have passed the same check. For coded blocks see `codes`.

use hybz_gpu::DeviceError;

/// The device returned fewer bytes than required.
pub(super) fn too_little() -> DeviceError {
    DeviceError::Other("the device returned too few bytes".to_owned())
}

/// The device gets no more work, through any of its lanes.
pub(super) fn computes_wrongly() -> DeviceError {
    DeviceError::Wrong("the device computes wrong results")
}

/// Fails if what the device has found cannot be right.
pub(super) fn right(is_right: bool) -> Result<(), DeviceError> {
    if is_right { Ok(()) } else { Err(computes_wrongly()) }
}

/// The sums of the bytes and of their squares, which are equal for a block and its last column.
///
/// Cubes are not used: these two sums are one `psadbw` and one `pmaddwd` for 8 or more bytes on any x86-64, while
/// 32-bit products made this the slowest part of a lane.
pub(super) fn power_sums(bytes: &[u8]) -> [u64; 2] {
    let (mut sum, mut squares) = (0, 0);
    // 16384 squares fit in 31 bits.
    for piece in bytes.chunks(16384) {
        sum += piece.iter().map(|&byte| u64::from(byte)).sum::<u64>();
        squares +=
            piece.iter().map(|&byte| i32::from(i16::from(byte)) * i32::from(i16::from(byte))).sum::<i32>() as u64;
    }
    [sum, squares]
}
