// Decodes FILE.bz2 with this package and its peers: node js/bench.mjs FILE.bz2 [ROUNDS] [FOLDER]. The folder has the
// peers: npm install unbzip2-stream seek-bzip compressjs @foxglove/wasm-bz2. Prints medians of processor time of
// alternating rounds, after four untimed ones: V8 recompiles hot code in other threads. The texts are compared.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createDecoder, decompress } from 'hybz/decompress';

const [file, rounds = '5', folder = '.'] = process.argv.slice(2);
const require = createRequire(resolve(folder, 'x.js'));
const coded = readFileSync(file);
const text = Buffer.from(decompress(coded));

const stream = (make) => () => new Promise((done, failed) => {
  const [it, parts] = [make(), []];
  it.on('data', (part) => parts.push(part)).on('end', () => done(Buffer.concat(parts))).on('error', failed);
  for (let at = 0; at < coded.length; at += 65536) it.write(coded.subarray(at, at + 65536));
  it.end();
});
const PEERS = {
  hybz: async () => () => decompress(coded),
  'hybz/unbzip2-stream': async () => stream(createRequire(import.meta.url)('hybz/unbzip2-stream')),
  'unbzip2-stream': async () => stream(require('unbzip2-stream')),
  'seek-bzip': async () => () => require('seek-bzip').decode(coded, undefined, true),
  compressjs: async () => () => require('compressjs').Bzip2.decompressFile(coded),
  '@foxglove/wasm-bz2': async () => {
    const peer = require('@foxglove/wasm-bz2');
    const bzip2 = await (peer.default ?? peer).init();
    return () => bzip2.decompress(coded, text.length, { small: false });
  },
};

const runs = {};
for (const [name, make] of Object.entries(PEERS)) {
  try {
    runs[name] = { run: await make(), times: [] };
    for (let round = 0; round < 4; round++) {
      if (!text.equals(Buffer.from(await runs[name].run()))) throw new Error('another text');
    }
  } catch (error) {
    console.log(`${name}: ${error.message.split('\n')[0]}`);
    delete runs[name];
  }
}
for (let round = 0; round < Number(rounds); round++) {
  for (const { run, times } of Object.values(runs)) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1e6);
  }
}
const median = (times) => [...times].sort((a, b) => a - b)[times.length >> 1];
const best = median(runs.hybz.times);
for (const [name, { times }] of Object.entries(runs)) {
  const time = median(times);
  const speed = (text.length / 1e6 / time).toFixed(1).padStart(6);
  console.log(`${name.padEnd(22)} ${speed} MB/s  ${(time / best).toFixed(2)}`);
}

// Wall time of two running workers, against one thread with a decoder that exists already: in one call, and by pieces,
// which are not joined and are compared in a round that is not timed. Without --expose-gc some rounds pay for others'
// garbage.
const many = await import('hybz/workers');
const decoder = createDecoder();
function* alone(bytes) {
  decoder.begin();
  yield* decoder.push(bytes);
  yield* decoder.finish();
}
let round = -1;
const all = async (pieces) => {
  let length = 0;
  for await (const piece of pieces) {
    if (round < 0 && !text.subarray(length, length + piece.length).equals(piece)) throw new Error('another piece');
    length += piece.length;
  }
  return length === text.length ? text : Buffer.alloc(0);
};
const ways = [
  decompress,
  (bytes) => many.decompress(bytes, { workers: 2 }),
  (bytes) => all(alone(bytes)),
  (bytes) => all(many.decompressIterable([bytes], { workers: 2 })),
];
const walls = ways.map(() => []);
for (; round < Number(rounds); round++) {
  for (const [way, run] of ways.entries()) {
    globalThis.gc?.();
    const before = performance.now();
    const made = await run(coded);
    if (round >= 0) walls[way].push(performance.now() - before);
    if (!text.equals(made)) throw new Error('another text');
  }
}
const [one, two, onePieces, twoPieces] = walls.map(median);
const ms = (time) => time.toFixed(0);
console.log(`one call: one thread ${ms(one)} ms, two workers ${ms(two)}, ${(one / two).toFixed(2)} times as fast`);
console.log(`pieces: ${ms(onePieces)} ms, ${ms(twoPieces)}, ${(onePieces / twoPieces).toFixed(2)} times as fast`);
