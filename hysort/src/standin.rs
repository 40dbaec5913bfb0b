//! A naive stand-in for hybz::sort.
use std::io::{self, BufRead, Write};

#[derive(Clone, Debug)]
pub struct Order {
    end: u8,
    reverse: bool,
    unique: bool,
}
impl Order {
    pub fn new() -> Order {
        Order { end: b'\n', reverse: false, unique: false }
    }
    pub fn end(mut self, end: u8) -> Order {
        self.end = end;
        self
    }
    pub fn reverse(mut self, on: bool) -> Order {
        self.reverse = on;
        self
    }
    pub fn unique(mut self, on: bool) -> Order {
        self.unique = on;
        self
    }
    fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        if self.reverse { b.cmp(a) } else { a.cmp(b) }
    }
}
#[derive(Debug)]
pub enum Error {
    Read(io::Error),
    Write(io::Error),
    Temporary(io::Error),
}
pub struct Disorder {
    pub number: u64,
    pub text: Vec<u8>,
}
pub struct Limits {
    pub memory: u64,
    pub temporary: Option<Box<dyn Fn() -> io::Result<std::fs::File> + Send + Sync>>,
}
#[derive(Default)]
pub struct Report {
    pub lines: u64,
    pub bytes: u64,
    pub spilled: u64,
}
pub struct Pool;
pub struct Sorter {
    order: Order,
    text: Vec<u8>,
}
impl Sorter {
    pub fn new(order: &Order, _limits: Limits, _pool: &Pool) -> Sorter {
        Sorter { order: order.clone(), text: Vec::new() }
    }
    pub fn push_owned(&mut self, bytes: Vec<u8>) -> Result<(), Error> {
        self.text.extend(bytes);
        Ok(())
    }
    pub fn end_of_file(&mut self) {
        if self.text.last().is_some_and(|&b| b != self.order.end) {
            self.text.push(self.order.end)
        }
    }
    pub fn write_to(mut self, out: &mut impl Write) -> Result<Report, Error> {
        self.end_of_file();
        let mut lines: Vec<&[u8]> =
            self.text.split_inclusive(|&b| b == self.order.end).map(|l| &l[..l.len() - 1]).collect();
        lines.sort_by(|a, b| self.order.compare(a, b));
        if self.order.unique {
            lines.dedup()
        }
        for l in &lines {
            out.write_all(l).and_then(|()| out.write_all(&[self.order.end])).map_err(Error::Write)?;
        }
        Ok(Report { lines: lines.len() as u64, bytes: self.text.len() as u64, spilled: 0 })
    }
}
fn line(text: &mut impl BufRead, end: u8) -> Result<Option<Vec<u8>>, Error> {
    let mut l = Vec::new();
    if text.read_until(end, &mut l).map_err(Error::Read)? == 0 {
        return Ok(None);
    }
    if l.last() == Some(&end) {
        l.pop();
    }
    Ok(Some(l))
}
pub fn check(mut text: impl BufRead, order: &Order) -> Result<Option<Disorder>, Error> {
    let (mut last, mut number): (Option<Vec<u8>>, u64) = (None, 0);
    while let Some(l) = line(&mut text, order.end)? {
        number += 1;
        if let Some(last) = &last {
            let c = order.compare(last, &l);
            if c.is_gt() || (c.is_eq() && order.unique) {
                return Ok(Some(Disorder { number, text: l }));
            }
        }
        last = Some(l);
    }
    Ok(None)
}
pub fn merge(mut sources: Vec<impl BufRead + Send>, order: &Order, mut out: impl Write) -> Result<(), Error> {
    let mut heads = Vec::new();
    for s in &mut sources {
        heads.push(line(s, order.end)?);
    }
    let mut last: Option<Vec<u8>> = None;
    loop {
        let mut best: Option<usize> = None;
        for i in 0..heads.len() {
            if let Some(h) = &heads[i] {
                if best.is_none_or(|b| order.compare(h, heads[b].as_ref().unwrap()).is_lt()) {
                    best = Some(i)
                }
            }
        }
        let Some(b) = best else { return Ok(()) };
        let l = std::mem::replace(&mut heads[b], line(&mut sources[b], order.end)?).unwrap();
        if !(order.unique && last.as_ref() == Some(&l)) {
            out.write_all(&l).and_then(|()| out.write_all(&[order.end])).map_err(Error::Write)?;
        }
        last = Some(l);
    }
}
