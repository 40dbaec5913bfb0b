// Decoding by workers. They decode whatever looks like a block. The decoder in the calling thread goes from item to
// item, takes a worker's block if it begins at the same bit, and decodes what no worker has decoded. So it accepts
// what one thread accepts, with the same errors.

import { concat, bytesOf, PIECE } from './core.js';
import { createDecoder } from './decompress.js';
import { Pool } from './pool.js';
import { CoderStream, pieces } from './streams.js';

/** Bits of the longest block that any encoder writes: 900,000 symbols of 20 bits, and the tables. */
const LONGEST = 20e6;

/** The text of the streams that a source yields. */
async function* decode(source, options, pool, cores) {
  const count = options?.workers ?? cores();
  if (!Number.isInteger(count) || count < 1) throw new RangeError('workers is a number of workers, from 1');
  const decoder = pool.spare ?? createDecoder();
  pool.spare = undefined;
  decoder.begin(options?.single);
  const input = pieces(source);
  /** The blocks handed to workers, in order; the keys are the bits at which they begin. */
  const jobs = new Map();
  /** The number of bits pushed; the bit from which blocks are looked for; the bit of the open block, or -1. */
  let [pushed, from, open] = [0, 0, -1];
  let ended = false;

  async function read() {
    const { value, done } = await input.next();
    ended = done;
    if (done) return void decoder.call('finish');
    decoder.put(value);
    decoder.call('push', value.length);
    pushed += 8 * value.length;
  }

  /** Hands the open block, which ends at bit `end` at most, to the workers. */
  function hand(end) {
    if (open < 0) return;
    decoder.call('lend', Math.floor(open / 8), Math.ceil(Math.min(end, open + LONGEST) / 8));
    jobs.set(open, pool.add(decoder.take(), open % 8));
    open = -1;
  }

  /** Finds blocks until workers have enough to do. */
  async function fill() {
    while (jobs.size < 3 * count) {
      const bit = decoder.call('find_ahead', from);
      from = bit < 0 ? Math.max(from, pushed - 47) : bit + 1;
      if (bit >= 0 || ended || pushed - open > LONGEST) hand(bit < 0 ? pushed : bit);
      if (bit >= 0) open = bit;
      else if (ended) return;
      else await read();
    }
  }

  /** Forgets blocks before `bit`: they were within another block. */
  function forget(bit) {
    if (open < bit) open = -1;
    from = Math.max(from, bit);
    for (const [at, job] of jobs) {
      if (at >= bit) return;
      jobs.delete(at);
      job.bytes = undefined;
    }
  }

  pool.open(count, decoder.module);
  try {
    for (;;) {
      await fill();
      const bit = decoder.call('next_block');
      forget(bit);
      const made = await jobs.get(bit)?.made;
      jobs.delete(bit);
      if (made?.text && decoder.call('accept', bit - (bit % 8) + made.end, made.crc, made.length)) {
        yield made.text;
        continue;
      }
      const some = decoder.call('text');
      if (some < 0) throw decoder.error();
      if (some > 0) yield decoder.take();
      else if (ended) return;
      else await read();
    }
  } finally {
    forget(Infinity);
    if (decoder.exports) pool.spare = decoder;
    pool.close();
    await input.return();
  }
}

/** The interface of `hybz/workers`; `start` starts a worker. */
export function parallel(start, cores) {
  const pool = new Pool(start);
  const decompressIterable = (source, options) => decode(source, options, pool, cores);

  async function decompress(bytes, options) {
    const parts = [];
    for await (const part of decompressIterable([bytesOf(bytes)], options)) parts.push(part);
    return concat(parts);
  }

  class Bzip2DecompressionStream extends CoderStream {
    constructor(options) {
      super((source) => decompressIterable(source, options));
    }
  }
  return { decompress, decompressIterable, Bzip2DecompressionStream };
}
