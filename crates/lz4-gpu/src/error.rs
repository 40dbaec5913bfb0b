//! Why frames were not decoded on a device.

use hybz_gpu::DeviceError;
use std::fmt;

/// Why frames were not decoded on a device. The contents of the device's memory are then undefined.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The frames are damaged or cut, or need a dictionary. Block and bit are those that the cores' decoders report.
    Frame(hybz::Error),
    /// The bytes do not begin with an LZ4 frame.
    NotLz4,
    /// The blocks of a frame refer to earlier blocks, so only one could be decoded at a time. Decode it on the cores
    /// ([`hybz::decompress`]).
    Linked {
        /// The first byte of the frame.
        offset: u64,
    },
    /// A legacy frame: its blocks have more text than a device supports. Decode it on the cores.
    Legacy {
        /// The first byte of the frame.
        offset: u64,
    },
    /// There are fewer bytes than the layout was made from.
    Short {
        /// The number of bytes the layout was made from.
        layout: u64,
        /// The number of bytes given.
        found: u64,
    },
    /// The device memory given is too small.
    Room {
        /// The number of bytes needed.
        needed: u64,
        /// The number of bytes given.
        found: u64,
    },
    /// The memory belongs to another device.
    OtherDevice {
        /// The decoder's device.
        decoder: i32,
        /// The memory's device.
        memory: i32,
    },
    /// There is no such device, it has too little memory, or it failed. After [`DeviceError::Lost`] it may still be
    /// running: don't touch the memory.
    Device(DeviceError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Frame(error) => error.fmt(f),
            Error::NotLz4 => f.write_str("not an LZ4 frame"),
            Error::Linked { offset } => write!(
                f,
                "the blocks of the frame at byte {offset} depend on each other: decode it on the cores, not on a device"
            ),
            Error::Legacy { offset } => {
                write!(f, "a legacy frame at byte {offset}: decode it on the cores, not on a device")
            }
            Error::Short { layout, found } => {
                write!(f, "{found} bytes of frames, but the layout was made from {layout} bytes")
            }
            Error::Room { needed, found } => write!(f, "{needed} bytes of device memory are needed, not {found}"),
            Error::OtherDevice { decoder, memory } => {
                write!(f, "memory of device {memory}, but the decoder is one of device {decoder}")
            }
            Error::Device(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Frame(error) => Some(error),
            Error::Device(error) => Some(error),
            _ => None,
        }
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Error {
        Error::Device(error)
    }
}
