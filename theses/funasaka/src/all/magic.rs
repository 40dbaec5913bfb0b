//! Magic strings: a short common superstring of the strings that a segment lacks in its dictionary.

/// The length of the longest end of `left` with which `right` begins.
fn overlap(left: &[u8], right: &[u8]) -> usize {
    let most = left.len().min(right.len());
    (1..=most).rev().find(|&len| left.ends_with(&right[..len])).unwrap_or(0)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// A string that contains all of `strings`, by the greedy algorithm: the two with the longest overlap become one, until
/// one is left. None of them is empty.
pub fn superstring(mut strings: Vec<&[u8]>) -> Vec<u8> {
    strings.sort_by_key(|string| std::cmp::Reverse(string.len()));
    let mut kept: Vec<&[u8]> = Vec::new();
    for string in strings {
        if !kept.iter().any(|longer| contains(longer, string)) {
            kept.push(string);
        }
    }
    // Since none contains another one, the overlap of two joined ones with a third is that of their outer ends.
    let count = kept.len();
    let mut pairs = Vec::with_capacity(count * count);
    for left in 0..count {
        let others = (0..count).filter(|&right| right != left);
        pairs.extend(others.map(|right| (overlap(kept[left], kept[right]), left, right)));
    }
    pairs.sort_by_key(|&(overlap, ..)| std::cmp::Reverse(overlap));
    let (mut next, mut last_of) = (vec![None; count], (0..count).collect::<Vec<_>>());
    let mut is_first = vec![true; count];
    for (overlap, left, right) in pairs {
        // `last_of` a first string is the last one of its row.
        let Some(head) = (0..count).find(|&head| is_first[head] && last_of[head] == left) else { continue };
        if is_first[right] && head != right {
            next[left] = Some((right, overlap));
            is_first[right] = false;
            last_of[head] = last_of[right];
        }
    }
    let mut whole = Vec::new();
    let (mut at, mut skip) = (is_first.iter().position(|first| *first), 0);
    while let Some(string) = at {
        whole.extend_from_slice(&kept[string][skip..]);
        (at, skip) = next[string].map_or((None, 0), |(string, overlap)| (Some(string), overlap));
    }
    whole
}
