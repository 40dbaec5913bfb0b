//! Classes of tasks, and which of them a station accepts.

/// A class of tasks, such as blocks to be encoded: a constant declared next to the task's type.
///
/// Each class has its own queue and measured rates, and accelerators are given tasks by class. The name identifies the
/// class.
///
/// ```
/// # use hybz_queue::Class;
/// pub const ENCODE: Class = Class::new("encode", 45e6);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Class {
    name: &'static str,
    core_rate: f64,
}

impl Class {
    /// A class whose tasks a core is assumed to do at `core_rate` bytes of input a second, until the rate has been
    /// measured.
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
    /// All classes, and tasks that other stations forward: a CPU core.
    Everything,
    /// These classes, and only tasks that no station has begun: an accelerator.
    Only(&'static [Class]),
    /// All but these classes, and tasks that other stations forward: a core that leaves some classes to the
    /// accelerators.
    AllBut(&'static [Class]),
}

impl Accepts {
    /// Whether the station accepts tasks of this class that no station has begun yet.
    pub fn class(self, class: Class) -> bool {
        match self {
            Accepts::Everything => true,
            Accepts::Only(classes) => classes.contains(&class),
            Accepts::AllBut(classes) => !classes.contains(&class),
        }
    }

    /// Whether the station accepts tasks that other stations have forwarded or declined.
    pub fn continuations(self) -> bool {
        !matches!(self, Accepts::Only(_))
    }
}
