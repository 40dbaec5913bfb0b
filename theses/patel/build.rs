//! libbz2's parts call each other through src/libbz2.rs.

fn main() {
    for function in ["BZ2_blockSort", "BZ2_compressBlock", "BZ2_decompress"] {
        println!("cargo:rustc-link-arg=-Wl,--wrap={function}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
