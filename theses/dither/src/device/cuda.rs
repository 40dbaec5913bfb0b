//! Runs the kernel on NVIDIA GPUs, through cudarc and the driver's library, which is loaded on the first call.
#![allow(unsafe_code)]

use super::pack::{Batch, Kernel, KernelError, Lane};
use crate::work::group;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use hybz::schedule::WorkerGroup;
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// The oldest driver that runs programs of CUDA 13, in cuDriverGetVersion's numbers.
const MIN_DRIVER: c_int = 13_000;
/// The maximum time of a batch: a gigabyte is a matter of milliseconds.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Warps that wait for others take turns on a multiprocessor; a dozen are enough to keep it busy.
const WARPS_EACH: usize = 16;

/// The address of an image for the driver must be a multiple of 8.
#[repr(C, align(16))]
struct Aligned<T: ?Sized>(T);

static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/dither.fatbin")));

/// A group for each GPU.
pub fn groups() -> Result<Vec<WorkerGroup>, String> {
    // SAFETY: the call only tries to load the library. Without the library, cudarc's first call would panic, so this
    // call comes first.
    if !unsafe { sys::is_culib_present() } {
        return Err("no NVIDIA driver (libcuda) on this machine".to_owned());
    }
    let mut version: c_int = 0;
    // SAFETY: `version` is valid for writes; this call may come before cuInit.
    let asked = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
    if asked.is_err() || version < MIN_DRIVER {
        return Err(format!("the NVIDIA driver is too old (CUDA {}.{})", version / 1000, version % 1000 / 10));
    }
    let text = |error: DriverError| describe("looking for GPUs", &error);
    result::init().map_err(text)?;
    let count = result::device::get_count().map_err(text)?;
    if count == 0 {
        return Err("no GPU is visible".to_owned());
    }
    let make = |ordinal| {
        let make = move || match Device::new(ordinal) {
            Ok(device) => Ok(Box::new(Lane(device)) as Box<_>),
            Err(error) => Err(describe("opening the GPU", &error)),
        };
        group(make)
    };
    Ok((0..count).map(make).collect())
}

fn describe(doing: &str, error: &DriverError) -> String {
    let text = error.error_string().map_or_else(|_| "unknown error".into(), CStr::to_string_lossy);
    format!("{doing}: {text} ({})", error.0 as i32)
}

/// A GPU, used by one thread.
struct Device {
    ordinal: c_int,
    device: sys::CUdevice,
    context: sys::CUcontext,
    module: sys::CUmodule,
    kernel: sys::CUfunction,
    multiprocessors: usize,
    total: usize,
    /// The GPU's memory: its address and length.
    memory: Option<(sys::CUdeviceptr, usize)>,
    /// The host's memory that the GPU reads by itself: its address and length.
    pinned: Option<(*mut u8, usize)>,
    way: Way,
    /// Before and after a kernel.
    events: [sys::CUevent; 2],
    /// A kernel may still be running: nothing can be freed.
    lost: bool,
}

/// How pixels and answers come to the GPU and back: the environment variable `DITHER_MEMORY`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `pageable`: copied from and to the caller's memory.
    Pageable,
    /// `pinned`: copied from and to memory that the GPU reads by itself.
    Pinned,
    /// `mapped`: not copied: the kernel works in that memory (the thesis's *zero copy*).
    Mapped,
}

impl Way {
    fn chosen() -> Way {
        match std::env::var("DITHER_MEMORY").as_deref() {
            Ok("pageable") => Way::Pageable,
            Ok("mapped") => Way::Mapped,
            _ => Way::Pinned,
        }
    }
}

// SAFETY: the driver's handles may be used from any thread; all uses need `&mut` or are in `drop`, and each sets the
// context before.
unsafe impl Send for Device {}

impl Device {
    fn new(ordinal: c_int) -> Result<Device, DriverError> {
        let device = result::device::get(ordinal)?;
        let multiprocessors = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        // SAFETY: cuDeviceGet returned `device`, here and below.
        let multiprocessors = unsafe { result::device::get_attribute(device, multiprocessors) }?.max(1) as usize;
        // SAFETY: as above.
        let total = unsafe { result::device::total_mem(device) }?;
        // SAFETY: as above. The context is given back in `drop`.
        let context = unsafe { result::primary_ctx::retain(device) }?;
        let mut this = Device {
            ordinal,
            device,
            context,
            module: std::ptr::null_mut(),
            kernel: std::ptr::null_mut(),
            multiprocessors,
            total,
            memory: None,
            pinned: None,
            way: Way::chosen(),
            events: [std::ptr::null_mut(); 2],
            lost: false,
        };
        // SAFETY: the context was retained just now.
        unsafe { result::ctx::set_current(context) }?;
        // SAFETY: nvcc made the image, which tells its length itself, and which is static.
        this.module = unsafe { result::module::load_data(IMAGE.0.as_ptr().cast()) }?;
        let name = CString::new("dither_slabs").unwrap_or_default();
        // SAFETY: the module was loaded just now.
        this.kernel = unsafe { result::module::get_function(this.module, name) }?;
        for event in &mut this.events {
            *event = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)?;
        }
        Ok(this)
    }

    /// `bytes` of the GPU's memory. The previous contents are lost.
    fn memory(&mut self, bytes: usize) -> Result<sys::CUdeviceptr, DriverError> {
        if let Some((memory, _)) = self.memory.filter(|&(_, there)| there >= bytes) {
            return Ok(memory);
        }
        if let Some((memory, _)) = self.memory.take() {
            // SAFETY: the memory was taken below, and no kernel is running.
            unsafe { result::free_sync(memory) }?;
        }
        // SAFETY: the context is current. Nothing is read before it was written (see `run_on_device`).
        let memory = unsafe { result::malloc_sync(bytes) }?;
        self.memory = Some((memory, bytes));
        Ok(memory)
    }

    /// `bytes` of the host's memory that the GPU reads by itself, and their address there. The previous contents stay.
    fn pinned(&mut self, bytes: usize) -> Result<(*mut u8, sys::CUdeviceptr), DriverError> {
        if self.pinned.is_none_or(|(_, there)| there < bytes) {
            if let Some((memory, _)) = self.pinned.take() {
                // SAFETY: the memory was taken below, and no kernel is running.
                unsafe { result::free_host(memory.cast()) }?;
            }
            // SAFETY: the context is current.
            let memory = unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_DEVICEMAP) }?.cast::<u8>();
            // SAFETY: the memory has this length. It is read as bytes, so it must not stay as it came.
            unsafe { memory.write_bytes(0, bytes) };
            self.pinned = Some((memory, bytes));
        }
        let memory = self.pinned.map_or(std::ptr::null_mut(), |(memory, _)| memory);
        let mut there = 0;
        // SAFETY: the memory was taken with the flag for this.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut there, memory.cast(), 0) }.result()?;
        Ok((memory, there))
    }

    fn run_on_device(&mut self, batch: &Batch) -> Result<Vec<u8>, DriverError> {
        // SAFETY: the context lives as long as `self`.
        unsafe { result::ctx::set_current(self.context) }?;
        let mut end = 0;
        let mut part = |bytes: usize| {
            let begin = end;
            end = (begin + bytes).next_multiple_of(256);
            begin
        };
        let (table, input, output) = (part(batch.table.len()), part(batch.input.len()), part(batch.output));
        let control_bytes = 4 * (1 + batch.strips as usize);
        let control_at = part(control_bytes);
        let memory = self.memory(end.max(256))?;
        let stream = result::stream::null();
        // What the GPU works on, and where the host has it (if it does).
        let (there, here) = match self.way {
            Way::Pageable => (memory, None),
            way => {
                let (here, mapped) = self.pinned(control_at.max(256))?;
                // SAFETY: the memory has this length, all of it was written once, and no kernel is running.
                let here = unsafe { std::slice::from_raw_parts_mut(here, control_at) };
                here[table..][..batch.table.len()].copy_from_slice(&batch.table);
                here[input..][..batch.input.len()].copy_from_slice(&batch.input);
                (if way == Way::Mapped { mapped } else { memory }, Some(here))
            }
        };
        // SAFETY: each part has as many bytes as are written to it; the slices live until the copy has ended.
        unsafe {
            match &here {
                None => {
                    result::memcpy_htod_sync(there + table as u64, &batch.table)?;
                    result::memcpy_htod_sync(there + input as u64, &batch.input)?;
                }
                Some(here) if self.way == Way::Pinned => result::memcpy_htod_async(there, &here[..output], stream)?,
                Some(_) => (),
            }
            result::memset_d8_async(there + output as u64, 0, batch.output, stream)?;
            result::memset_d8_async(memory + control_at as u64, 0, control_bytes, stream)?;
        }
        self.launch(batch, [table, input, output].map(|at| there + at as u64), memory + control_at as u64)?;
        let mut bytes = vec![0; batch.output];
        match here {
            // SAFETY: the kernel has ended, and the output is that large.
            None => unsafe { result::memcpy_dtoh_sync(&mut bytes, there + output as u64) }?,
            Some(here) => {
                let here = &mut here[output..][..batch.output];
                if self.way == Way::Pinned {
                    // SAFETY: as above; the slice lives until the copy has ended.
                    unsafe { result::memcpy_dtoh_async(here, there + output as u64, stream) }?;
                    self.wait(stream)?;
                }
                bytes.copy_from_slice(here);
            }
        }
        Ok(bytes)
    }

    /// Runs the kernel on a batch whose arrays are at these addresses, to its end.
    fn launch(&mut self, batch: &Batch, arrays: [u64; 3], mut control: u64) -> Result<(), DriverError> {
        let ([mut table, mut input, mut output], stream) = (arrays, result::stream::null());
        let (mut slabs, mut strips) = (batch.slabs, batch.strips);
        let mut arguments = [
            (&raw mut table).cast::<c_void>(),
            (&raw mut slabs).cast(),
            (&raw mut strips).cast(),
            (&raw mut input).cast(),
            (&raw mut output).cast(),
            (&raw mut control).cast(),
        ];
        let grid = (strips as usize).min(WARPS_EACH * self.multiprocessors).max(1) as u32;
        let [begin, end] = self.events;
        // SAFETY: the arguments are those of `dither_slabs`, in number and type; the table tells the kernel only of
        // places within the input and the output (`Batch`), and both are that large.
        unsafe {
            result::event::record(begin, stream)?;
            result::launch_kernel(self.kernel, (grid, 1, 1), (32, 1, 1), 0, stream, &mut arguments)?;
            result::event::record(end, stream)?;
        }
        self.wait(stream)?;
        // SAFETY: both were recorded just now.
        let ms = unsafe { result::event::elapsed(begin, end) }?;
        super::DEVICE_MICROS.fetch_add((f64::from(ms) * 1e3) as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Waits for the kernel, up to a timeout.
    fn wait(&mut self, stream: sys::CUstream) -> Result<(), DriverError> {
        let began = Instant::now();
        loop {
            // SAFETY: it is the default stream of the current context.
            match unsafe { sys::cuStreamQuery(stream) } {
                sys::CUresult::CUDA_SUCCESS => return Ok(()),
                sys::CUresult::CUDA_ERROR_NOT_READY if began.elapsed() < TIMEOUT => {
                    thread::sleep(Duration::from_micros(50));
                }
                sys::CUresult::CUDA_ERROR_NOT_READY => {
                    return Err(DriverError(sys::CUresult::CUDA_ERROR_LAUNCH_TIMEOUT));
                }
                other => return Err(DriverError(other)),
            }
        }
    }
}

impl Kernel for Device {
    fn name(&self) -> String {
        format!("gpu {}", self.ordinal)
    }

    fn most_bytes(&self) -> usize {
        self.total / 4
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<u8>, KernelError> {
        self.run_on_device(batch).map_err(|error| {
            let text = describe("dithering on the GPU", &error);
            match error.0 {
                sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => KernelError::Memory(text),
                _ => {
                    self.lost = true;
                    KernelError::Lost(text)
                }
            }
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.lost {
            return;
        }
        // SAFETY: `self` took all of it and gives it back once, and no kernel is running. The results no longer matter.
        unsafe {
            let _ = result::ctx::set_current(self.context);
            if let Some((memory, _)) = self.memory.take() {
                let _ = result::free_sync(memory);
            }
            if let Some((memory, _)) = self.pinned.take() {
                let _ = result::free_host(memory.cast());
            }
            for event in self.events.into_iter().filter(|event| !event.is_null()) {
                let _ = result::event::destroy(event);
            }
            if !self.module.is_null() {
                let _ = result::module::unload(self.module);
            }
            let _ = result::primary_ctx::release(self.device);
        }
    }
}
