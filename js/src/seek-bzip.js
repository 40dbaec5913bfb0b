// The interface of the package seek-bzip.

import { Bzip2Error, createDecoder } from './decompress.js';
import { concat } from './core.js';

/** The numbers of seek-bzip's errors. */
const Err = {
  OK: 0,
  LAST_BLOCK: -1,
  NOT_BZIP_DATA: -2,
  UNEXPECTED_INPUT_EOF: -3,
  UNEXPECTED_OUTPUT_EOF: -4,
  DATA_ERROR: -5,
  OUT_OF_MEMORY: -6,
  OBSOLETE_INPUT: -7,
  END_OF_BLOCK: -8,
};

const NUMBERS = { NOT_BZIP2: Err.NOT_BZIP_DATA, TRUNCATED: Err.UNEXPECTED_INPUT_EOF };

/** Runs `act`; hybz's errors also get seek-bzip's number. */
function numbered(act) {
  try {
    return act();
  } catch (error) {
    if (error instanceof Bzip2Error) error.errorCode = NUMBERS[error.code] ?? Err.DATA_ERROR;
    throw error;
  }
}

/** The bytes of a Buffer, or one by one those of an object with `readByte`, so that only needed bytes are read. */
function* chunks(input) {
  if (!('readByte' in input)) return void (yield input);
  while (!input.eof?.()) {
    const byte = input.readByte();
    if (!(byte >= 0)) return;
    yield Uint8Array.of(byte);
  }
}

/** Yields the text of the first stream, or of all of them. */
function* texts(input, multistream, decoder = createDecoder({ single: !multistream })) {
  for (const bytes of chunks(input)) {
    yield* decoder.push(bytes);
    if (!multistream && decoder.call('is_complete')) return;
  }
  yield* decoder.finish();
}

/** Delivers text as the caller wants it: in a new Buffer, maybe of a stated length, a given one, or by `writeByte`. */
function deliver(pieces, output) {
  if (output && typeof output === 'object' && 'writeByte' in output) {
    for (const piece of pieces) {
      if (output.write) output.write(Buffer.from(piece), 0, piece.length);
      else for (const byte of piece) output.writeByte(byte);
    }
    return output.getBuffer?.();
  }
  const text = concat(pieces);
  const wanted = typeof output === 'number' ? output : output?.length ?? text.length;
  if (wanted !== text.length) throw new TypeError('outputsize does not match decoded input');
  if (output && typeof output !== 'number') {
    output.set(text);
    return output;
  }
  return typeof Buffer === 'function' ? Buffer.from(text.buffer, text.byteOffset, text.length) : text;
}

/** The text of `input`: of its first stream, or of all of them with `multistream`. */
function decode(input, output, multistream) {
  return numbered(() => deliver(texts(input, multistream), output));
}

/** The text of the block that begins at bit `position`. */
function decodeBlock(input, position, output) {
  return numbered(() => {
    const machine = createDecoder();
    let [bytes, bit] = [input, position];
    if ('readByte' in input) {
      input.seek(Math.floor(position / 8));
      [bytes, bit] = [concat(chunks({ readByte: () => input.readByte(), eof: input.eof?.bind(input) })), position % 8];
    }
    machine.put(bytes);
    if (machine.call('decode_block', bytes.length, bit) < 0) throw machine.error();
    return deliver([machine.take()], output);
  });
}

/** Calls `callback(position, size)` for each block: its first bit, and the length of its text. */
function table(input, callback, multistream) {
  return numbered(() => {
    const decoder = createDecoder({ single: !multistream });
    let [block, size] = [0, 0];
    for (const text of texts(input, multistream, decoder)) {
      const bit = decoder.call('block_bit');
      if (bit !== block && block > 0) {
        callback(block, size);
        size = 0;
      }
      block = bit;
      size += text.length;
    }
    if (block > 0) callback(block, size);
  });
}

/** The base class of streams: the caller overrides what it needs. */
class Stream {
  readByte() {
    const bytes = [0];
    return this.read(bytes, 0, 1) === 0 ? -1 : bytes[0];
  }

  writeByte(byte) {
    this.write(Uint8Array.of(byte), 0, 1);
  }

  flush() {}
}

export default { Err, Stream, decode, decodeBlock, table };
