//! TIFF files whose strips or tiles are coded by all cores: conversion from and to PGM and PPM, and recoding.
//!
//! ```text
//! cargo run --release -p hybz-tiff-lzw --example tiff_lzw -- to-tiff [OPTION...] IN.ppm OUT.tif
//! cargo run --release -p hybz-tiff-lzw --example tiff_lzw -- to-pnm [--gpu] IN.tif OUT.ppm
//! cargo run --release -p hybz-tiff-lzw --example tiff_lzw -- again [--gpu] IN.tif OUT.tif
//! ```
//!
//! With `--gpu` a GPU decodes the strips and undoes differences (with `--features cuda`).
//!
//! Other programs read what it writes: `tiffcp -c none OUT.tif PLAIN.tif`.

mod pnm;
mod tiff;

use hybz::Pool;
use std::fs;
use tiff::{Coding, Layout, Trouble};

/// About 64 KiB a strip, the usual maximum: enough work for a job, and enough jobs for all cores.
const STRIP: usize = 64 << 10;

fn main() -> Result<(), Trouble> {
    let usage = "tiff_lzw to-tiff|to-pnm|again [--rows=N|--tile=N] [--differences] [--gpu] IN OUT";
    let (flags, words): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let [task, from, to] = &words[..] else { return Err(usage.into()) };
    let file = fs::read(from)?;
    let pool = Pool::builder().build();
    let read = || match flags.iter().any(|flag| flag == "--gpu") {
        true => tiff::read(&file, &on_gpu),
        false => tiff::read(&file, &|strips, differences| tiff::on_cores(&pool, strips, differences)),
    };
    let made = match &task[..] {
        "to-tiff" => {
            let image = pnm::read(&file)?;
            let mut coding =
                Coding { layout: Layout::Strips((STRIP / (image.width * image.samples)).max(1)), differences: false };
            for flag in &flags {
                match flag.split_once('=') {
                    Some(("--rows", rows)) => coding.layout = Layout::Strips(rows.parse::<usize>()?.max(1)),
                    Some(("--tile", side)) => {
                        let side = side.parse::<usize>()?.next_multiple_of(16).max(16);
                        coding.layout = Layout::Tiles(side, side);
                    }
                    None if flag == "--differences" => coding.differences = true,
                    _ => return Err(usage.into()),
                }
            }
            tiff::write(&image, coding, &pool)?
        }
        "to-pnm" => pnm::write(&read()?.0),
        "again" => {
            let (image, coding) = read()?;
            tiff::write(&image, coding, &pool)?
        }
        _ => return Err(usage.into()),
    };
    fs::write(to, made)?;
    Ok(())
}

/// Decodes all strips on the first GPU, in one batch.
#[cfg(feature = "cuda")]
fn on_gpu(strips: &[(&[u8], usize)], differences: Option<(usize, usize)>) -> Result<Vec<Vec<u8>>, Trouble> {
    let (coded, text) = strips.iter().fold((0, 0), |(coded, text), (codes, len)| (coded + codes.len(), text + len));
    let mut device = hybz_tiff_lzw::DeviceStrips::open("0", strips.len(), coded, text)?;
    if let Some((samples, pixels)) = differences {
        device.undo_differences(samples, pixels)?;
    }
    device.decode(strips)?.into_iter().map(|text| text.map_err(|flaw| flaw.to_string().into())).collect()
}

#[cfg(not(feature = "cuda"))]
fn on_gpu(_: &[(&[u8], usize)], _: Option<(usize, usize)>) -> Result<Vec<Vec<u8>>, Trouble> {
    Err("this build has no GPU: --features cuda".into())
}
