// Coders as streams of the web, and as async iterators.

import { PIECE, bytesOf } from './core.js';

/** The bytes of an iterable or of a ReadableStream, in small pieces. */
export async function* pieces(source) {
  for await (const data of source[Symbol.asyncIterator] || source[Symbol.iterator] ? source : read(source)) {
    const bytes = bytesOf(data);
    for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
  }
}

/** Yields what a coder makes of a source. */
export async function* iterate(makeCoder, source) {
  const coder = makeCoder();
  for await (const bytes of pieces(source)) yield* coder.push(bytes);
  yield* coder.finish();
}

/** The chunks of a ReadableStream that is not an async iterable. */
async function* read(stream) {
  const reader = stream.getReader();
  try {
    for (let next; !(next = await reader.read()).done; ) yield next.value;
  } finally {
    reader.releaseLock();
  }
}

/**
 * A pair of streams, as a DecompressionStream is. The write of a chunk is complete only when all output from it has
 * been read, so that a small chunk that makes gigabytes takes little memory.
 */
export class CoderStream {
  /** @param {Function} make takes an async iterable of input, and returns one of output */
  constructor(make) {
    let give, failure, controller;
    let chunk = new Promise((resolve) => (give = resolve));
    async function* chunks() {
      for (;;) {
        const next = await chunk;
        chunk = new Promise((resolve) => (give = resolve));
        if (next.end) return;
        yield next.bytes;
        next.done();
      }
    }
    const made = make(chunks());
    let waiting;
    const fail = (error) => {
      failure ??= error;
      waiting?.reject(failure);
      controller?.error(failure);
      // `made` may hold workers, which are released only when it ends.
      give({ end: true });
      return made.return();
    };
    const handOn = (next) => new Promise((resolve, reject) => {
      if (failure) return reject(failure);
      waiting = { reject };
      give({ ...next, done: resolve });
    });

    /** Takes the input. */
    this.writable = new WritableStream({
      start: (it) => void (controller = it),
      write: (bytes) => handOn({ bytes }),
      close: () => void give({ end: true }),
      abort: (reason) => fail(reason ?? new Error('aborted')),
    }, new CountQueuingStrategy({ highWaterMark: 1 }));

    /** Gives the output. */
    this.readable = new ReadableStream({
      pull: async (it) => {
        try {
          const { value, done } = await made.next();
          if (failure) throw failure;
          done ? it.close() : it.enqueue(value);
        } catch (error) {
          fail(error);
          throw error;
        }
      },
      cancel: (reason) => fail(reason ?? new Error('cancelled')),
    }, new CountQueuingStrategy({ highWaterMark: 0 }));
  }
}
