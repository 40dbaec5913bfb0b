// A decoder or encoder is one instance of the WebAssembly module; dropping the instance frees all its memory.

/** The kinds of errors, in the order of rust/lib.rs. */
const CODES = ['NOT_BZIP2', 'TRUNCATED', 'DATA', 'BLOCK_TOO_LARGE', 'INTERNAL'];

/** Input is given to the module in pieces of this size, so that its memory stays small. */
export const PIECE = 1 << 16;

/** How long, in ms, a decoder or workers are kept for the next call. */
export const KEEP = 2000;

/** Why an input cannot be decoded. */
export class Bzip2Error extends Error {
  /**
   * @param {string} message
   * @param {string} code
   * @param {number} block the number of the block, from 1, or 0
   * @param {number} bit its first bit in the input, or where the input ends
   */
  constructor(message, code, block, bit) {
    super(message);
    this.name = 'Bzip2Error';
    this.code = code;
    this.block = block;
    this.bit = bit;
  }
}

/** The words of the command. */
function message(code, block, bit, damage) {
  switch (code) {
    case 'NOT_BZIP2': return 'not a bzip2 file';
    case 'TRUNCATED': return `file ends unexpectedly in block ${block}, at bit ${bit}`;
    case 'DATA': return `data integrity error in block ${block} at bit ${bit}: ${damage}`;
    case 'BLOCK_TOO_LARGE':
      return `block ${block} at bit ${bit} is too large to be decoded in bounded memory`;
    default: return 'internal error';
  }
}

/** The bytes of an argument: a Uint8Array, another view, or an ArrayBuffer. */
export function bytesOf(data) {
  if (data instanceof Uint8Array) return data;
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (data instanceof ArrayBuffer || (typeof SharedArrayBuffer === 'function' && data instanceof SharedArrayBuffer)) {
    return new Uint8Array(data);
  }
  throw new TypeError('bytes are expected: a Uint8Array, another view or an ArrayBuffer');
}

/**
 * The bytes that tools/pack.mjs packed into a text. A byte below 93 is one character, counted from the space; others
 * are two. Unlike in base64 each byte keeps its own characters, so gzip finds repeats: gzipped, the text is 6 % longer
 * than the bytes, and base64 27 %.
 */
function unpack(text) {
  const bytes = new Uint8Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const first = text.charCodeAt(at) - 32;
    bytes[length++] = first < 93 ? first : first * 95 - 8742 + text.charCodeAt(++at) - 32;
  }
  return bytes.subarray(0, length);
}

/** The module that is packed into this text, compiled at its first use. */
export function lazyModule(text) {
  let module;
  return () => (module ??= new WebAssembly.Module(unpack(text)));
}

/** An instance of the module. */
export class Machine {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    this.module = module;
    this.exports = new WebAssembly.Instance(module, {}).exports;
  }

  /** Calls a function of the module. A trap means that there is no memory, or an error in hybz. */
  call(name, ...args) {
    if (!this.exports) throw new Bzip2Error('internal error: the decoder has failed', 'INTERNAL', 0, 0);
    try {
      return this.exports[name](...args);
    } catch (error) {
      this.exports = undefined;
      throw new Bzip2Error(`internal error: ${error.message}`, 'INTERNAL', 0, 0);
    }
  }

  /** Copies bytes into the module. */
  put(bytes) {
    const at = this.call('room', bytes.length) >>> 0;
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  /** A copy of the bytes that the module made last. */
  take() {
    const at = this.call('out') >>> 0;
    return new Uint8Array(this.exports.memory.buffer, at, this.call('out_len')).slice();
  }

  /** The error that the module has met. */
  error() {
    const code = CODES[this.call('error_code')];
    const [block, bit] = [this.call('error_block'), this.call('error_bit')];
    return new Bzip2Error(message(code, block, bit, new TextDecoder().decode(this.take())), code, block, bit);
  }

  /** Calls a function that makes bytes until it makes none. */
  *all(name) {
    for (;;) {
      const made = this.call(name);
      if (made < 0) throw this.error();
      if (made === 0) return;
      yield this.take();
    }
  }

  /** Gives bytes to the module, and yields what they make. */
  *feed(bytes, push, make) {
    for (let at = 0; at < bytes.length; at += PIECE) {
      const piece = bytes.subarray(at, at + PIECE);
      this.put(piece);
      this.call(push, piece.length);
      yield* this.all(make);
    }
  }
}

/** Decodes streams that come in pieces. */
export class Decoder extends Machine {
  /** @param {boolean} [single] whether only the first stream is decoded */
  constructor(module, single = false) {
    super(module);
    this.begin(single);
  }

  /** Begins anew. */
  begin(single) {
    this.call('decoder', single ? 1 : 0);
  }

  /** Adds bytes of the input, and yields text. */
  *push(bytes) {
    yield* this.feed(bytesOf(bytes), 'push', 'text');
  }

  /** The input is complete: yields the last text. */
  *finish() {
    this.call('finish');
    yield* this.all('text');
  }
}

/** Pieces as one array. */
export function concat(pieces) {
  const all = [...pieces];
  if (all.length === 1) return all[0];
  const whole = new Uint8Array(all.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of all) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Yields what a coder makes of one array of bytes. */
export function* once(coder, bytes) {
  yield* coder.push(bytes);
  yield* coder.finish();
}
