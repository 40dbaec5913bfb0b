//! The same factors by other algorithms: the definition, in quadratic time, and a suffix automaton, in linear time.

use hybz_factor::Factor;
use hybz_factor::neighbours::{NONE, Pair};

/// The length of the longest earlier occurrence of the text at each position: all pairs of positions are compared.
pub fn longest(text: &[u8]) -> Vec<usize> {
    let mut longest = vec![0; text.len()];
    // The length of the common prefix at position `at` and each other position, computed from the length at the
    // positions after them.
    let mut row = vec![0; text.len() + 1];
    for at in (0..text.len()).rev() {
        for other in 0..text.len() {
            row[other] = if text[at] == text[other] { row[other + 1] + 1 } else { 0 };
        }
        longest[at] = row[..at].iter().copied().max().unwrap_or(0);
    }
    longest
}

/// The neighbours of each position: of all suffixes, sorted by comparing them.
pub fn neighbours(text: &[u8]) -> Vec<Pair> {
    let mut sorted: Vec<usize> = (0..text.len()).collect();
    sorted.sort_by_key(|&at| &text[at..]);
    let mut pairs = vec![[NONE; 2]; text.len()];
    for (rank, &at) in sorted.iter().enumerate() {
        let number = |&other: &usize| other as i32;
        let before = sorted[..rank].iter().rfind(|&&other| other < at).map_or(NONE, number);
        let after = sorted[rank..].iter().find(|&&other| other < at).map_or(NONE, number);
        pairs[at] = [before, after];
    }
    pairs
}

/// The factors by the definition. Their sources are neighbours.
pub fn factors(text: &[u8]) -> Vec<Factor> {
    let (longest, pairs) = (longest(text), neighbours(text));
    let (mut at, mut all) = (0, Vec::new());
    while at < text.len() {
        let len = longest[at];
        let fits = |source: &&i32| **source != NONE && text[**source as usize..].starts_with(&text[at..at + len]);
        all.push(match pairs[at].iter().find(fits) {
            Some(&source) if len > 0 => Factor::Copy { source: source as u32, len: len as u32 },
            _ => Factor::Letter(text[at]),
        });
        at += len.max(1);
    }
    all
}

/// The suffix automaton of a text (Blumer and others, 1985): a state for each set of strings that end at the same
/// places.
struct Automaton {
    /// The length of a state's longest string, the state of the longest string that is not its own, and where its
    /// strings end first.
    states: Vec<(u32, u32, u32)>,
    /// An open hash table of (state and letter, next state).
    edges: Vec<(u64, u32)>,
}

const FREE: u64 = u64::MAX;
const NOWHERE: u32 = u32::MAX;

impl Automaton {
    fn new(text: &[u8]) -> Automaton {
        // An automaton has fewer than 2 n states and 3 n edges.
        let room = (text.len() * 4).next_power_of_two().max(16);
        let mut automaton = Automaton { states: vec![(0, NOWHERE, NOWHERE)], edges: vec![(FREE, 0); room] };
        let mut last = 0;
        for (at, &letter) in text.iter().enumerate() {
            last = automaton.push(last, at as u32, letter);
        }
        automaton
    }

    fn place(&self, state: u32, letter: u8) -> usize {
        let key = u64::from(state) << 8 | u64::from(letter);
        let mut place = key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) as usize % self.edges.len();
        while self.edges[place].0 != FREE && self.edges[place].0 != key {
            place = (place + 1) % self.edges.len();
        }
        place
    }

    fn edge(&self, state: u32, letter: u8) -> Option<u32> {
        let (key, next) = self.edges[self.place(state, letter)];
        (key != FREE).then_some(next)
    }

    fn set_edge(&mut self, state: u32, letter: u8, next: u32) {
        let place = self.place(state, letter);
        self.edges[place] = (u64::from(state) << 8 | u64::from(letter), next);
    }

    fn push(&mut self, last: u32, at: u32, letter: u8) -> u32 {
        let new = self.states.len() as u32;
        self.states.push((at + 1, 0, at));
        let mut state = last;
        while state != NOWHERE && self.edge(state, letter).is_none() {
            self.set_edge(state, letter, new);
            state = self.states[state as usize].1;
        }
        if state == NOWHERE {
            return new;
        }
        let next = self.edge(state, letter).expect("the loop ended here");
        let len = self.states[state as usize].0 + 1;
        if self.states[next as usize].0 == len {
            self.states[new as usize].1 = next;
            return new;
        }
        let clone = self.states.len() as u32;
        let (_, link, first) = self.states[next as usize];
        self.states.push((len, link, first));
        for letter in 0..=255 {
            if let Some(to) = self.edge(next, letter) {
                self.set_edge(clone, letter, to);
            }
        }
        while state != NOWHERE && self.edge(state, letter) == Some(next) {
            self.set_edge(state, letter, clone);
            state = self.states[state as usize].1;
        }
        self.states[next as usize].1 = clone;
        self.states[new as usize].1 = clone;
        new
    }
}

/// The lengths of the factors, by a suffix automaton: no suffix is sorted.
pub fn lengths(text: &[u8]) -> Vec<usize> {
    let automaton = Automaton::new(text);
    let (mut at, mut all) = (0, Vec::new());
    while at < text.len() {
        let (mut state, mut len) = (0, 0);
        while let Some(&letter) = text.get(at + len) {
            state = automaton.edge(state, letter).expect("what the text has, the automaton has");
            // Stops at a string whose first occurrence is this one.
            if automaton.states[state as usize].2 as usize == at + len {
                break;
            }
            len += 1;
        }
        all.push(len.max(1));
        at += len.max(1);
    }
    all
}
