//! Bentley and McIlroy's partition into three ("Engineering a sort function", Software: Practice and Experience 23,
//! 1993), with exactly the moves that both of bzip2's sorts make: entries equal to the pivot are gathered at both ends
//! and then swapped into the middle. If rotations tie, these moves decide which comes first.

use std::cmp::Ordering;

/// Moves entries less than the pivot to the front and greater ones to the back, and returns the numbers of these;
/// `None` if all equal the pivot, in which case nothing moves. `order` compares an entry with the pivot.
pub fn partition<T: Copy>(entries: &mut [T], order: impl Fn(T) -> Ordering) -> Option<(usize, usize)> {
    let len = entries.len();
    // From front to back: equal up to `equal_front`, less up to `low`, not yet examined up to `high`, greater up to
    // `equal_back`, then equal again.
    let (mut equal_front, mut low, mut high, mut equal_back) = (0, 0, len, len);
    loop {
        while low < high {
            let entry = entries[low];
            let order = order(entry);
            if order == Ordering::Greater {
                break;
            }
            // Swaps if the entry is equal, but without a branch, which would be mispredicted half the time.
            let is_equal = order == Ordering::Equal;
            let first = entries[equal_front];
            entries[equal_front] = if is_equal { entry } else { first };
            entries[low] = if is_equal { first } else { entry };
            equal_front += usize::from(is_equal);
            low += 1;
        }
        while low < high {
            let entry = entries[high - 1];
            let order = order(entry);
            if order == Ordering::Less {
                break;
            }
            let is_equal = order == Ordering::Equal;
            let last = entries[equal_back - 1];
            entries[equal_back - 1] = if is_equal { entry } else { last };
            entries[high - 1] = if is_equal { last } else { entry };
            equal_back -= usize::from(is_equal);
            high -= 1;
        }
        if low == high {
            break;
        }
        entries.swap(low, high - 1);
        low += 1;
        high -= 1;
    }
    if equal_front == len {
        return None;
    }
    let (less, greater) = (low - equal_front, equal_back - high);
    let front = less.min(equal_front);
    for i in 0..front {
        entries.swap(i, low - front + i);
    }
    let back = greater.min(len - equal_back);
    for i in 0..back {
        entries.swap(low + i, len - back + i);
    }
    Some((less, greater))
}
