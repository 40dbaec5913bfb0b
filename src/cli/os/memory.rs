//! How much memory there is.

use std::fs;
use std::path::Path;

/// The memory of the machine, or of the container if that has less, in bytes.
pub fn total() -> u64 {
    machine().min(container().unwrap_or(u64::MAX))
}

#[allow(clippy::useless_conversion)] // the field has 32 bits on 32-bit machines
fn machine() -> u64 {
    let info = rustix::system::sysinfo();
    u64::from(info.totalram).saturating_mul(info.mem_unit.into())
}

/// The smallest memory limit of our control group and of those above it, of version 2 or 1.
fn container() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let limit_of = |line: &str| {
        let (_, controllers_and_path) = line.split_once(':')?;
        let (root, path, file) = match controllers_and_path.split_once(':')? {
            ("", path) => ("/sys/fs/cgroup", path, "memory.max"),
            ("memory", path) => ("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"),
            _ => return None,
        };
        let ours = Path::new(root).join(path.trim_start_matches('/'));
        let limit = |group: &Path| fs::read_to_string(group.join(file)).ok()?.trim().parse().ok();
        ours.ancestors().take_while(|group| group.starts_with(root)).filter_map(limit).min()
    };
    groups.lines().filter_map(limit_of).min()
}
