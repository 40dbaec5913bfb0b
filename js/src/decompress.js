// Decompression alone, in the smallest module.

import { Bzip2Error, Decoder, KEEP, concat, lazyModule, once } from './core.js';
import { CoderStream, iterate } from './streams.js';
import wasm from './decode.wasm.js';

const compiled = lazyModule(wasm);

export { Bzip2Error };

/** A new decoder: `push` and `finish` yield text. */
export function createDecoder(options) {
  return new Decoder(compiled(), options?.single);
}

/** The decoder of the last call of `decompress`. A new one takes 5 ms, 10 times as long as a small file. */
let idle;
let timer;

/** The text of all consecutive streams in `bytes`. */
export function decompress(bytes, options) {
  const decoder = idle ?? createDecoder();
  idle = undefined;
  decoder.begin(options?.single);
  const text = concat(once(decoder, bytes));
  idle = decoder;
  clearTimeout(timer);
  timer = setTimeout(() => (idle = undefined), KEEP);
  timer.unref?.();
  return text;
}

/** The text of the streams that an iterable, async iterable or ReadableStream yields. */
export function decompressIterable(source, options) {
  return iterate(() => createDecoder(options), source);
}

/** Works like a DecompressionStream: `response.body.pipeThrough(new Bzip2DecompressionStream())`. */
export class Bzip2DecompressionStream extends CoderStream {
  constructor(options) {
    super((source) => decompressIterable(source, options));
  }
}
