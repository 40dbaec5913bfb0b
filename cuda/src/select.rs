//! Selects devices as the user names them: by number, UUID or PCI id, as nvidia-smi prints them.

use super::Device;

/// The devices that `list` names, comma-separated: `0`, `GPU-4f0b...` (or a unique prefix of it) or `0000:1b:00.0` (or
/// `1b:00.0`). A device named twice counts once.
pub fn select(list: &str, devices: &[Device]) -> Result<Vec<Device>, String> {
    let mut chosen: Vec<Device> = Vec::new();
    for name in list.split(',').map(str::trim) {
        let device = find(name, devices)?;
        if !chosen.contains(device) {
            chosen.push(device.clone());
        }
    }
    Ok(chosen)
}

fn find<'a>(name: &str, devices: &'a [Device]) -> Result<&'a Device, String> {
    let lower = name.to_lowercase();
    let means = |device: &&Device| {
        if let Some(uuid) = lower.strip_prefix("gpu-") {
            !uuid.is_empty() && device.uuid.to_lowercase().starts_with(&lower)
        } else if lower.contains(':') {
            // nvidia-smi writes the domain with 8 digits, CUDA with 4; users omit it.
            let short = device.pci.split_once(':').map_or("", |(_, short)| short);
            [&*device.pci, short].iter().any(|pci| pci.trim_start_matches('0') == lower.trim_start_matches('0'))
        } else {
            name.parse() == Ok(device.number)
        }
    };
    let mut found = devices.iter().filter(means);
    match (found.next(), found.next()) {
        (Some(device), None) => Ok(device),
        (Some(_), Some(_)) => Err(format!("`{name}` names more than one GPU")),
        (None, _) => Err(format!("no GPU `{name}` here ({} visible)", devices.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        // The devices 0 and 2 are hidden.
        let device = |ordinal, uuid: &str, pci: &str| Device {
            number: 2 * ordinal as usize + 1,
            ordinal,
            name: "test".to_owned(),
            uuid: uuid.to_owned(),
            pci: pci.to_owned(),
            memory: 0,
        };
        let devices = [device(0, "GPU-4f0b11", "0000:1b:00.0"), device(1, "GPU-4f0c22", "0001:1b:00.0")];
        let ordinals = |list: &str| select(list, &devices).map(|all| all.iter().map(|d| d.ordinal).collect::<Vec<_>>());
        assert_eq!(ordinals("1"), Ok(vec![0]));
        assert_eq!(ordinals("3, 1,3"), Ok(vec![1, 0]));
        assert_eq!(ordinals("gpu-4F0c"), Ok(vec![1]));
        assert_eq!(ordinals("0000:1B:00.0"), Ok(vec![0]));
        assert_eq!(ordinals("00000001:1B:00.0"), Ok(vec![1]));
        for bad in ["", "0", "2", "-1", "GPU-", "GPU-4f0", "1b:00.0", "gpu-5", "00:00.0", "x"] {
            assert!(ordinals(bad).is_err(), "{bad}");
        }
    }
}
