//! Classes of tasks, and which of them a station accepts.

/// A class of tasks, such as blocks to be encoded: a constant beside the task's type.
///
/// Tasks of one class have a queue and measured rates of their own, and accelerators are given tasks by class. A class
/// is known by its name.
///
/// ```
/// # use hybz::schedule::Class;
/// pub const ENCODE: Class = Class::new("encode", 45e6);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Class {
    name: &'static str,
    core_rate: f64,
}

impl Class {
    /// A class whose tasks a core does at `core_rate` bytes of input a second, until that has been measured.
    pub const fn new(name: &'static str, core_rate: f64) -> Class {
        Class { name, core_rate }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn core_rate(&self) -> f64 {
        self.core_rate
    }
}

impl Eq for Class {}

impl PartialEq for Class {
    fn eq(&self, other: &Class) -> bool {
        self.name == other.name
    }
}

/// Which classes of tasks a station accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accepts {
    /// All, and what other stations forward: a CPU core.
    Everything,
    /// These, from the beginning: an accelerator.
    Only(&'static [Class]),
    /// All but these, and what other stations forward: a core that leaves some to the accelerators.
    AllBut(&'static [Class]),
}

impl Accepts {
    /// Whether tasks of this class are accepted that no station has begun yet.
    pub fn class(self, class: Class) -> bool {
        match self {
            Accepts::Everything => true,
            Accepts::Only(classes) => classes.contains(&class),
            Accepts::AllBut(classes) => !classes.contains(&class),
        }
    }

    /// Whether tasks are accepted that other stations have forwarded or declined.
    pub fn continuations(self) -> bool {
        !matches!(self, Accepts::Only(_))
    }
}
