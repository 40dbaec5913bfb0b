//! Perturbation by itself (section 5.2.2), for sorts that are measured alone.

/// The block with a byte inserted after every `interval` bytes (0: unchanged).
pub fn perturbed(block: &[u8], interval: u32) -> Vec<u8> {
    if interval == 0 {
        return block.to_vec();
    }
    let mut state = 1u64;
    let mut out = Vec::with_capacity(block.len() + block.len() / interval as usize);
    for part in block.chunks(interval as usize) {
        out.extend_from_slice(part);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        out.push(block[(state >> 33) as usize % block.len()]);
    }
    out
}
