// Decoding by workers gives the texts and errors of one thread.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import * as one from 'hybz';
import * as many from 'hybz/workers';
import { Decoder } from '../dist/core.js';
import { parallel } from '../dist/parallel.js';

const { compress } = one;
let seed = 7;
const random = (below) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
const noise = (length, count) => Buffer.from(Uint8Array.from({ length }, () => 97 + random(count)));
const level1 = (text) => compress(text, { level: 1 });
const text = noise(950_000, 5);
const long = Buffer.from(level1(text));
const [empty, zeros] = [compress(Buffer.alloc(0)), compress(Buffer.alloc(6_000_000))];
const shorts = [0, 900, 1, 2000, 500].map((length) => level1(noise(length, 9)));
const small = Buffer.concat([...shorts, Buffer.from('BZ other')]);

/** The text that comes, and the error after it. */
async function outcome(iterate, source, options) {
  const parts = [];
  const end = {};
  try {
    for await (const part of iterate(source, options)) parts.push(part);
  } catch (error) {
    const { name, message, code, block, bit } = error;
    Object.assign(end, { name, message, code, block, bit });
  }
  return { text: Buffer.concat(parts), end };
}

/** One decoder for all files: making a decoder takes longer than decoding most of these files. */
const decoder = one.createDecoder();
function* alone([file], options) {
  decoder.begin(options?.single);
  yield* decoder.push(file);
  yield* decoder.finish();
}

async function same(file, options, it = many) {
  const wanted = await outcome(alone, [file], options);
  const made = await outcome(it.decompressIterable, [file], { workers: 2, ...options });
  assert.deepEqual(made.end, wanted.end);
  assert.ok(made.text.equals(wanted.text));
  return wanted.end.code;
}

test('blocks come from workers, in order', async (t) => {
  const call = t.mock.method(Decoder.prototype, 'call');
  for (const it of [many, createRequire(import.meta.url)('hybz/workers')]) {
    assert.ok(Buffer.from(await it.decompress(long, { workers: 3 })).equals(text));
  }
  const named = call.mock.calls.filter(({ arguments: [name] }) => name === 'accept');
  assert.equal(named.length, 10);
  assert.ok(named.every(({ result }) => result === 1));
  assert.ok(Buffer.from(await many.decompress(long)).equals(text));
});

test('many streams, empty ones, long texts, single, other bytes after them', async () => {
  for (const parts of [
    [long, empty, small], [empty], [empty, empty, long, zeros, long], [zeros, zeros], [Buffer.from('no')], [],
    [long, Buffer.alloc(5_000_000, 'x')],
  ]) {
    for (const single of [false, true]) await same(Buffer.concat(parts), { single });
  }
});

test('a stream that comes in pieces', async () => {
  const file = new Uint8Array(Buffer.concat([long, long]));
  const made = new Blob([file]).stream().pipeThrough(new many.Bzip2DecompressionStream({ workers: 2 }));
  assert.ok((await buffer(made)).equals(Buffer.concat([text, text])));
  const bytes = Array.from(small, (byte) => Uint8Array.of(byte));
  assert.deepEqual(await outcome(many.decompressIterable, bytes), await outcome(alone, [small]));
});

test('every 50th bit wrong', async () => {
  const codes = {};
  for (let bit = 0; bit < 8 * small.length; bit += 50) {
    const file = Buffer.from(small);
    file[bit >> 3] ^= 128 >> (bit & 7);
    const code = await same(file);
    codes[code] = (codes[code] ?? 0) + 1;
  }
  assert.ok(codes.DATA > 200, JSON.stringify(codes));
  for (let round = 0; round < 40; round++) {
    const file = Buffer.concat([long, long]);
    file[random(file.length)] ^= 1 << random(8);
    await same(file);
  }
});

test('every 15th length', async () => {
  for (let length = 0; length < small.length; length += 15) await same(small.subarray(0, length));
  for (let round = 0; round < 10; round++) await same(long.subarray(0, random(long.length)));
});

test('blocks that are no blocks of the stream', async () => {
  await same(Buffer.concat([long, Buffer.from('garbage'), long, zeros]));
  const nine = Buffer.from(compress(text));
  nine[3] = 0x31;
  assert.equal(await same(nine), 'DATA');
});

// Some of them have magics within blocks. Every fifth file is enough: there are 1,335.
test('crafted files', { skip: process.env.HYBZ_CRAFTED ? false : 'HYBZ_CRAFTED is not set' }, async () => {
  const folder = process.env.HYBZ_CRAFTED;
  const names = readdirSync(folder).filter((name) => name.endsWith('.bz2')).filter((_, at) => at % 5 === 0);
  for (const name of names) await same(readFileSync(`${folder}/${name}`));
  assert.ok(names.length > 100);
});

test('without workers the calling thread decodes', async () => {
  const refuse = () => {
    throw new Error('no workers here');
  };
  const late = (_, answer, failed) => {
    sleep(5).then(failed);
    return { postMessage() {}, terminate() {} };
  };
  for (const start of [refuse, late]) await same(long, {}, parallel(start, () => 2));
  await assert.rejects(many.decompress(long, { workers: 0 }), RangeError);
  await assert.rejects(many.decompress('text'), TypeError);
});

test('streams that are given up let their workers end', { timeout: 60_000 }, async () => {
  // Timers of the pool do not keep a process alive.
  const awake = setInterval(() => {}, 1000);
  for (const giveUp of [
    (_, reader) => reader.cancel(),
    async ({ writer }, reader) => {
      const aborted = writer.abort(new Error('enough'));
      await assert.rejects(async () => { while (!(await reader.read()).done); }, /enough/);
      await aborted;
    },
  ]) {
    const ends = [];
    const start = (code, answer, failed) => {
      const worker = new Worker(code, { eval: true }).on('message', answer).on('error', failed);
      ends.push(once(worker, 'exit'));
      return worker;
    };
    const { readable, writable } = new (parallel(start, () => 2).Bzip2DecompressionStream)();
    const [reader, writer] = [readable.getReader(), writable.getWriter()];
    writer.closed.catch(() => {});
    writer.write(long).catch(() => {});
    assert.ok((await reader.read()).value.length > 0);
    await giveUp({ writer }, reader);
    assert.equal(ends.length, 2);
    await Promise.all(ends);
  }
  clearInterval(awake);
});

test('workers of a process whose text is a module', () => {
  const script = `import { compress } from 'hybz';
    import { decompress } from 'hybz/workers';
    import { Decoder } from './dist/core.js';
    const { call } = Decoder.prototype;
    let accepted = 0;
    Decoder.prototype.call = function (name, ...rest) {
      const made = call.call(this, name, ...rest);
      if (name === 'accept') accepted += made;
      return made;
    };
    await decompress(compress(Buffer.alloc(250_000, 'abcdefg'), { level: 1 }), { workers: 2 });
    console.log(accepted);`;
  const flags = { cwd: new URL('..', import.meta.url), encoding: 'utf8' };
  assert.equal(execFileSync(process.execPath, ['--input-type=module', '-e', script], flags), '3\n');
});

test('several at once, and one that is left', async () => {
  const all = await Promise.all(Array.from({ length: 5 }, () => many.decompress(long, { workers: 2 })));
  assert.ok(all.every((made) => text.equals(made)));
  for await (const part of many.decompressIterable([long])) if (part) break;
  await same(long);
});
