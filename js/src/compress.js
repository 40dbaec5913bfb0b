// Compression: bzip2's exact bytes.

import { Machine, bytesOf, concat, lazyModule, once } from './core.js';
import { CoderStream, iterate } from './streams.js';
import wasm from './encode.wasm.js';

const compiled = lazyModule(wasm);

/** Encodes a stream from text that comes in pieces. */
class Encoder extends Machine {
  constructor(module, level) {
    super(module);
    this.call('encoder', level);
  }

  /** Adds text, and yields coded bytes. */
  *push(bytes) {
    yield* this.feed(bytesOf(bytes), 'push_text', 'coded');
  }

  /** The text is complete: yields the last bytes. */
  *finish() {
    this.call('finish_text');
    yield* this.all('coded');
  }
}

/** A new encoder: `push` and `finish` yield coded bytes. */
export function createEncoder(options) {
  const level = options?.level ?? 9;
  if (!Number.isInteger(level) || level < 1 || level > 9) throw new RangeError('a level is 1 to 9');
  return new Encoder(compiled(), level);
}

/** `bytes` as one stream. */
export function compress(bytes, options) {
  return concat(once(createEncoder(options), bytes));
}

/** The .bz2 stream of the text that an iterable, async iterable or ReadableStream yields. */
export function compressIterable(source, options) {
  return iterate(() => createEncoder(options), source);
}

/** Works like a CompressionStream. */
export class Bzip2CompressionStream extends CoderStream {
  constructor(options) {
    super((source) => compressIterable(source, options));
  }
}
