// The interfaces of unbzip2-stream and seek-bzip. Their own tests: js/suites.sh.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { compress } from 'hybz';

const require = createRequire(import.meta.url);
const unbzip2 = require('hybz/unbzip2-stream');
const Bunzip = require('hybz/seek-bzip');
const text = Buffer.from('to be or not to be, '.repeat(20_000));
const coded = Buffer.from(compress(text, { level: 1 }));
const two = Buffer.concat([coded, coded]);

test('unbzip2-stream', async () => {
  assert.ok((await buffer(Readable.from([two]).pipe(unbzip2()))).equals(Buffer.concat([text, text])));
  const broken = unbzip2();
  const seen = [];
  for (const event of ['error', 'end', 'close']) broken.on(event, () => seen.push(event));
  broken.resume();
  broken.write(Buffer.from('nothing of the kind'));
  broken.end(coded);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(seen, ['error']);
});

test('seek-bzip', () => {
  assert.ok(Bunzip.decode(two).equals(text));
  assert.ok(Bunzip.decode(two, 2 * text.length, true).equals(Buffer.concat([text, text])));
  assert.throws(() => Bunzip.decode(coded, 5), TypeError);
  const blocks = [];
  Bunzip.table(two, (position, size) => blocks.push([position, size]), true);
  assert.equal(blocks.reduce((sum, [, size]) => sum + size, 0), 2 * text.length);
  let at = 0;
  for (const [position, size] of blocks) {
    const block = Bunzip.decodeBlock(two, position);
    assert.ok(block.equals(Buffer.concat([text, text]).subarray(at, at + size)));
    at += size;
  }
  assert.throws(() => Bunzip.decode(Buffer.from('no')), { errorCode: Bunzip.Err.NOT_BZIP_DATA });
  assert.throws(() => Bunzip.decode(coded.subarray(0, 99)), { errorCode: Bunzip.Err.UNEXPECTED_INPUT_EOF });
});

test('seek-bzip reads no byte that it does not need', () => {
  let at = 0;
  const written = [];
  const input = { readByte: () => two[at++] ?? -1, seek: (to) => void (at = to) };
  Bunzip.decode(input, { writeByte: (byte) => written.push(byte) });
  assert.equal(at, coded.length);
  assert.ok(Buffer.from(written).equals(text));
  assert.equal(Bunzip.decodeBlock(input, 32).compare(text.subarray(0, Bunzip.decodeBlock(two, 32).length)), 0);
});
