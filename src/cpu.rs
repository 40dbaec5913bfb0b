//! The kernels that this processor runs.
//!
//! The variable `HYBZ_CPU` of the environment (`portable`, `avx2`) leaves out those that need more, so that tests and
//! benches reach each kernel on any machine. It changes no byte of any output.

use std::sync::LazyLock;

/// What a kernel needs, each with all before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// What every processor of the architecture has.
    Portable,
    /// SSSE3 to AVX2, and the bit instructions of the same time.
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
        $crate::cpu::Level::$level <= *$crate::cpu::LIMIT && $(std::is_x86_feature_detected!($feature))&&+
    };
}
pub(crate) use has;
