//! Names the library: programs load it by its soname, `libbz2.so.1.0` in Debian and `libbz2.so.1` elsewhere.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HYBZ_LIBBZ2_SONAME");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let soname = std::env::var("HYBZ_LIBBZ2_SONAME").unwrap_or_else(|_| "libbz2.so.1.0".to_owned());
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{soname}");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
