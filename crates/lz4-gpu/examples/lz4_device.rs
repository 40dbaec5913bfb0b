//! Decodes a .lz4 file into the memory of a GPU, where its text stays, and prints the speed:
//!
//! ```text
//! hybz --format=lz4 FILE; cargo run --release -p hybz-lz4-gpu --features cuda --example lz4_device FILE.lz4
//! ```

use cudarc::driver::CudaContext;
use hybz_lz4_gpu::{Decoder, Error, Layout};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("usage: lz4_device FILE.lz4")?;
    let bytes = std::fs::read(&name)?;
    let layout = match Layout::read(&bytes) {
        Ok(layout) => layout,
        // The blocks depend on each other, so the cores would decode them and the text would have to be copied.
        Err(error @ (Error::Linked { .. } | Error::Legacy { .. })) => return Err(format!("{name}: {error}").into()),
        Err(error) => return Err(error.into()),
    };
    layout.check_blocks(&bytes)?;

    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    // Pinned memory is copied at the full speed of the link. SAFETY: it is written below, before it is read.
    #[allow(unsafe_code)]
    let mut pinned = unsafe { context.alloc_pinned::<u8>(bytes.len()) }?;
    pinned.as_mut_slice()?.copy_from_slice(&bytes);
    let mut staging = stream.alloc_zeros::<u8>(bytes.len())?;
    let mut text = stream.alloc_zeros::<u8>(layout.text_len() as usize)?;

    let mut decoder = Decoder::open("0", layout.blocks())?;
    for _ in 0..3 {
        let start = Instant::now();
        decoder.load(pinned.as_slice()?, &layout, &mut staging, &mut text)?;
        let rate = layout.text_len() as f64 / start.elapsed().as_secs_f64() / 1e9;
        println!("{} bytes of text in {} blocks: {rate:.1} GB/s", layout.text_len(), layout.blocks());
    }
    // Kernels would work on `text` from here.
    let beginning = stream.clone_dtoh(&text.slice(..text.len().min(60)))?;
    println!("{}", String::from_utf8_lossy(&beginning));
    Ok(())
}
