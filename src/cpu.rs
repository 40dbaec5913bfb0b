//! The kernels that this processor runs.
//!
//! The variable `HYBZ_CPU` of the environment (`portable`, `avx2`) leaves out kernels that need more, so that tests
//! and benches reach each kernel on any machine. It changes no byte of any output.

use std::sync::LazyLock;
#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
use std::{
    ffi::{c_char, c_void},
    mem, ptr,
};

/// What a kernel needs; each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// What every processor of the architecture has.
    Portable,
    /// SSSE3 to AVX2, and the bit instructions of the same generation.
    Avx2,
    Avx512,
}

/// The highest level that may be used, whether or not this processor has it.
pub(crate) static LIMIT: LazyLock<Level> = LazyLock::new(|| match std::env::var("HYBZ_CPU").as_deref() {
    Ok("portable") => Level::Portable,
    Ok("avx2") => Level::Avx2,
    _ => Level::Avx512,
});

/// Whether kernels of this level may be used, and this processor has these features: `has!(Avx2: "avx2", "popcnt")`.
macro_rules! has {
    ($level:ident: $($feature:tt),+) => {
        $crate::cpu::Level::$level <= *$crate::cpu::LIMIT && $($crate::cpu::found!($feature))&&+
    };
}
pub(crate) use has;

/// Whether this processor has a feature.
///
/// glibc asks the processor before `main`. std would ask again, by seven CPUID instructions, each of which exits a
/// virtual machine: 41 us of the 830 that `hybz -c` takes for 1 kB on a Zen 5.
macro_rules! found {
    ($feature:tt) => {
        $crate::cpu::loader_found(const { $crate::cpu::place_of($feature) })
            .unwrap_or_else(|| std::is_x86_feature_detected!($feature))
    };
}
pub(crate) use found;

/// Where glibc keeps a feature: the number of the leaf in sys/platform/x86.h, the register, the bit.
type Place = (u32, usize, u32);

/// The place of a feature. One that is missing here does not compile; else std would silently be asked.
pub(crate) const fn place_of(feature: &str) -> Place {
    match feature.as_bytes() {
        b"pclmulqdq" => (0, 2, 1),
        b"ssse3" => (0, 2, 9),
        b"sse4.1" => (0, 2, 19),
        b"movbe" => (0, 2, 22),
        b"popcnt" => (0, 2, 23),
        b"bmi1" => (1, 1, 3),
        b"avx2" => (1, 1, 5),
        b"bmi2" => (1, 1, 8),
        b"avx512f" => (1, 1, 16),
        b"avx512dq" => (1, 1, 17),
        b"avx512bw" => (1, 1, 30),
        b"avx512vl" => (1, 1, 31),
        b"avx512vbmi" => (1, 2, 1),
        b"avx512vbmi2" => (1, 2, 6),
        b"vpclmulqdq" => (1, 2, 10),
        b"lzcnt" => (2, 2, 5),
        _ => panic!("the place of this feature is missing"),
    }
}

/// What glibc, if it is 2.33 or later, says about the feature at this place.
pub(crate) fn loader_found((leaf, register, bit): Place) -> Option<bool> {
    Some((*LEAF)?(leaf).active[register] >> bit & 1 != 0)
}

/// `struct cpuid_feature` of glibc: EAX, EBX, ECX and EDX, as the processor gives them and as programs may use them.
#[repr(C)]
struct Leaf {
    found: [u32; 4],
    active: [u32; 4],
}

static LEAF: LazyLock<Option<extern "C" fn(u32) -> &'static Leaf>> = LazyLock::new(leaf_function);

#[cfg(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static")))]
#[allow(unsafe_code)]
fn leaf_function() -> Option<extern "C" fn(u32) -> &'static Leaf> {
    unsafe extern "C" {
        fn dlsym(library: *const c_void, name: *const c_char) -> *const c_void;
    }
    // SAFETY: the name ends with a zero, null means all libraries, and the function of this name has this type: it
    // never returns null, and the leaves live as long as the loader. No such function is None.
    unsafe { mem::transmute(dlsym(ptr::null(), c"__x86_get_cpuid_feature_leaf".as_ptr())) }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"))))]
fn leaf_function() -> Option<extern "C" fn(u32) -> &'static Leaf> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn glibc_and_std_find_the_same() {
        macro_rules! agree {
            ($($feature:tt)+) => {
                $(if let Some(found) = super::loader_found(super::place_of($feature)) {
                    assert_eq!(found, std::is_x86_feature_detected!($feature), "{}", $feature);
                })+
            };
        }
        agree!("pclmulqdq" "ssse3" "sse4.1" "movbe" "popcnt" "bmi1" "avx2" "bmi2" "avx512f" "avx512dq" "avx512bw");
        agree!("avx512vl" "avx512vbmi" "avx512vbmi2" "vpclmulqdq" "lzcnt");
    }
}
