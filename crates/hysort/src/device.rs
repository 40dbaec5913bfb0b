//! Sorts lines that are already in a device's memory, and leaves the result there.

use super::gpu::{TIMEOUT, TIMEOUT_PER_BYTE, size};
use super::order::Order;
use hybz_gpu::{Choice, DeviceError, DeviceLane, LineOrder, Pipeline};
use std::fmt;

/// Sorts text from a device's memory to the same device's memory.
///
/// It allocates all the memory that it needs at the start, 16 bytes for each byte of text. Its results are not checked,
/// because nothing comes to the host.
///
/// ```no_run
/// # fn example(text: u64, sorted: u64) -> Result<(), hysort::DeviceError> {
/// use hysort::{DeviceSorter, Order};
/// let mut sorter = DeviceSorter::open("0", 1 << 30)?;
/// // With cudarc: the pointers of two `CudaSlice<u8>` of the device's primary context, by `device_ptr`.
/// // SAFETY: both have a gigabyte, and the stream that wrote the text has been synchronized.
/// let length = unsafe { sorter.sort(text, 1 << 30, sorted, &Order::new().unique(true)) }?;
/// # Ok(())
/// # }
/// ```
pub struct DeviceSorter(Box<dyn DeviceLane>);

impl DeviceSorter {
    /// Opens the first of the devices that `device` names (a number, a name such as `GPU-4f0b`, or a PCI address), for
    /// up to `bytes` bytes of text, less than 4 GiB, in lines of at least 6 bytes on average.
    ///
    /// # Errors
    /// If there is no such device, or not enough memory on it.
    pub fn open(device: &str, bytes: usize) -> Result<DeviceSorter, DeviceError> {
        let (backend, device) = Choice::new(Some(device)).device(0).map_err(DeviceError::Other)?;
        Ok(DeviceSorter(backend.open(&device, Pipeline::Lines, size(bytes))?))
    }

    /// Sorts the `length` bytes at the address `text` into those at `sorted`, as `order` says. Returns how many bytes
    /// were written: fewer than `length` only if equal lines are dropped.
    ///
    /// # Safety
    /// Both addresses are in the memory of this sorter's device, in its primary context, with `length` bytes each,
    /// which do not overlap; the writing of the text has completed, and neither is used by anything else meanwhile.
    ///
    /// # Errors
    /// If the text does not end with a line's end, or has too many lines; or if the device fails: then the sorter must
    /// not be used again.
    #[allow(unsafe_code)]
    pub unsafe fn sort(&mut self, text: u64, length: u32, sorted: u64, order: &Order) -> Result<u32, DeviceError> {
        let how = LineOrder { end: order.end_byte(), reverse: order.is_reverse() };
        let timeout = TIMEOUT + TIMEOUT_PER_BYTE * length;
        // SAFETY: the caller guarantees it.
        unsafe { self.0.sort_on_device(text, length, how, order.is_unique(), sorted, timeout) }
    }
}

impl fmt::Debug for DeviceSorter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceSorter").field("size", &self.0.size()).finish()
    }
}
