//! Measures that only make a program start faster.

/// Defines C's `pow` and `exp2` in the program, which indicatif's estimate of the time left calls through std. Without
/// these definitions the loader would load libm.so at every start for two functions: that is 0.09 ms of the 1.24 ms
/// that hybz takes for a 1 kB file (3,000 alternating runs of each program on 2 cores of an EPYC, of which the fastest
/// tenth counts, because the machine was busy).
///
/// A macro, because the symbols are the program's: a library that had them would decide for every program that uses it.
#[macro_export]
macro_rules! without_libm {
    () => {
        #[allow(unsafe_code)]
        // SAFETY: it is declared as C declares it and does what C says, so every caller gets what it expects.
        #[unsafe(no_mangle)]
        extern "C" fn pow(base: f64, exponent: f64) -> f64 {
            $crate::startup::pow(base, exponent)
        }

        #[allow(unsafe_code)]
        // SAFETY: as above.
        #[unsafe(no_mangle)]
        extern "C" fn exp2(power: f64) -> f64 {
            $crate::startup::exp2(power)
        }
    };
}

#[doc(hidden)]
pub use libm::{exp2, pow};
