// The whole interface, in both kinds of modules, with bzip2 as the judge.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import test from 'node:test';
import * as esm from 'hybz';
import { createCompress, createDecompress } from 'hybz/node';

const cjs = createRequire(import.meta.url)('hybz');
const { Bzip2CompressionStream, Bzip2DecompressionStream, Bzip2Error } = esm;
const bzip2 = spawnSync('bzip2', ['--help']).error ? null : (text, level) =>
  execFileSync('bzip2', [`-${level}c`], { input: text, maxBuffer: 1 << 30 });

let seed = 50;
const random = (below) => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) % below;
const letters = (length, count) => Buffer.from(Uint8Array.from({ length }, () => 97 + random(count)));
const words = (length) => {
  const list = Array.from({ length: 300 }, () => letters(1 + random(9), 26).toString());
  let text = '';
  while (text.length < length) text += list[random(list.length)] + ' ';
  return Buffer.from(text.slice(0, length));
};
const TEXTS = {
  empty: Buffer.alloc(0),
  one: Buffer.from('x'),
  words: words(1_300_000),
  zeros: Buffer.alloc(2_000_000),
  runs: Buffer.concat(Array.from({ length: 3000 }, () => Buffer.alloc(random(300), random(3)))),
  two: letters(400_000, 2),
  random: Buffer.from(Uint8Array.from({ length: 400_000 }, () => random(256))),
  periodic: Buffer.alloc(350_000, 'abcab'),
};
const same = (made, wanted) => assert.ok(Buffer.compare(Buffer.from(made), Buffer.from(wanted)) === 0);

for (const [kind, it] of [['esm', esm], ['cjs', cjs]]) {
  for (const [name, text] of Object.entries(TEXTS)) {
    test(`${kind}: ${name} there and back`, () => {
      for (const level of [1, 9]) {
        const coded = it.compress(text, { level });
        if (bzip2) same(coded, bzip2(text, level));
        same(it.decompress(coded), text);
      }
    });
  }
}

test('bzip2 is here to judge', { skip: bzip2 ? false : 'bzip2 is not installed' }, () => {});

test('streams of the web', async () => {
  const text = TEXTS.words;
  const streams = new Blob([text]).stream().pipeThrough(new Bzip2CompressionStream({ level: 1 }));
  const coded = new Uint8Array(await new Response(streams).arrayBuffer());
  same(coded, esm.compress(text, { level: 1 }));
  const twice = new Blob([coded, coded]).stream().pipeThrough(new Bzip2DecompressionStream());
  same(new Uint8Array(await new Response(twice).arrayBuffer()), Buffer.concat([text, text]));
});

test('async iterators and iterables', async () => {
  const coded = esm.compress(TEXTS.words);
  const pieces = [];
  for (let at = 0; at < coded.length; at += 1000) pieces.push(coded.subarray(at, at + 1000));
  for (const source of [pieces, Readable.from(pieces), new Blob([coded]).stream()]) {
    same(await buffer(esm.decompressIterable(source)), TEXTS.words);
  }
  same(await buffer(esm.compressIterable([TEXTS.words])), coded);
});

test('streams of Node', async () => {
  const parts = [];
  await pipeline(Readable.from([TEXTS.words]), createCompress(), createDecompress(), async (source) => {
    for await (const part of source) parts.push(part);
  });
  same(Buffer.concat(parts), TEXTS.words);
  const damaged = pipeline(Readable.from([Buffer.from('BZh9 and no more')]), createDecompress(), buffer);
  await assert.rejects(damaged, { code: 'DATA' });
});

test('errors have their code, block and bit', async () => {
  const coded = esm.compress(TEXTS.words, { level: 1 });
  const wrong = Buffer.from(coded);
  wrong[11] ^= 1;
  const cases = [
    [Buffer.from('no'), { code: 'NOT_BZIP2', block: 0, bit: 0 }],
    [Buffer.alloc(0), { code: 'TRUNCATED', block: 1, bit: 0 }],
    [coded.subarray(0, 100), { code: 'TRUNCATED', block: 1, bit: 800 }],
    [Buffer.concat([coded, Buffer.from('BZ')]), { code: 'TRUNCATED' }],
    [wrong, { code: 'DATA', block: 1, bit: 32, name: 'Bzip2Error' }],
  ];
  for (const [file, expected] of cases) {
    assert.throws(() => esm.decompress(file), expected);
    const made = new Blob([file]).stream().pipeThrough(new Bzip2DecompressionStream());
    await assert.rejects(new Response(made).arrayBuffer(), expected);
  }
  same(esm.decompress(Buffer.concat([coded, Buffer.from('garbage')])), TEXTS.words);
  same(esm.decompress(Buffer.concat([coded, coded]), { single: true }), TEXTS.words);
  assert.throws(() => esm.compress('text'), TypeError);
  assert.throws(() => esm.compress(TEXTS.one, { level: 10 }), RangeError);
});

test('damaged input is an error or a text, never a trap', () => {
  const coded = esm.compress(TEXTS.words.subarray(0, 150_000), { level: 1 });
  let refused = 0;
  for (let round = 0; round < 150; round++) {
    const file = Buffer.from(coded.subarray(0, round % 4 ? coded.length : random(coded.length)));
    for (let n = 0; n <= random(3) && file.length > 0; n++) {
      file[random(round % 2 ? file.length : 200) % file.length] ^= 1 << random(8);
    }
    try {
      esm.decompress(file);
    } catch (error) {
      refused++;
      assert.ok(error instanceof Bzip2Error && error.code !== 'INTERNAL', `${error}`);
    }
  }
  assert.ok(refused > 100, `${refused}`);
});

const folder = process.env.HYBZ_CRAFTED;
test('crafted files', { skip: folder ? false : 'HYBZ_CRAFTED is not set: js/test.sh sets it' }, () => {
  let count = 0;
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.bz2'))) {
    const [file, stem] = [readFileSync(`${folder}/${name}`), name.slice(0, -4)];
    const accepted = readdirSync(folder).includes(`${stem}.text`);
    const pieces = [];
    try {
      const decoder = esm.createDecoder();
      for (const piece of decoder.push(file)) pieces.push(piece);
      for (const piece of decoder.finish()) pieces.push(piece);
      assert.ok(accepted, `${name} is accepted`);
    } catch (error) {
      assert.ok(!accepted && error instanceof Bzip2Error && error.code !== 'INTERNAL', `${name}: ${error}`);
    }
    same(Buffer.concat(pieces), readFileSync(`${folder}/${stem}.${accepted ? 'text' : 'good'}`));
    count++;
  }
  assert.ok(count > 100, `${count} files`);
});

test('a small file that makes gigabytes takes little memory, and waits for its reader', async () => {
  const bomb = esm.compress(Buffer.alloc(46_000_000));
  const file = Buffer.concat(Array.from({ length: 8 }, () => bomb));
  const before = process.memoryUsage().rss;
  for (const stream of [
    new Blob([file]).stream().pipeThrough(new Bzip2DecompressionStream()),
    Readable.from([file]).pipe(createDecompress()),
  ]) {
    let [length, most] = [0, 0];
    for await (const piece of stream) {
      length += piece.length;
      if (length % (1 << 24) < piece.length) {
        await new Promise(setImmediate);
        most = Math.max(most, process.memoryUsage().rss - before);
      }
    }
    assert.equal(length, 8 * 46_000_000);
    assert.ok(most < 300e6, `${most} bytes`);
  }
});

test('a reader that leaves ends the writer', async () => {
  const stream = new Bzip2DecompressionStream();
  const writing = (async () => {
    const writer = stream.writable.getWriter();
    for (let n = 0; n < 100; n++) await writer.write(esm.compress(TEXTS.words, { level: 1 }));
  })();
  const reader = stream.readable.getReader();
  await reader.read();
  await reader.cancel('enough');
  await assert.rejects(writing, (error) => error === 'enough');
});
