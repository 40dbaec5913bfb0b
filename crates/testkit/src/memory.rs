//! The peak memory of the process that runs the tests.

/// The peak in MB since [`forget_peak`], if there is a /proc.
pub fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kb| kb / 1000)
}

pub fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
