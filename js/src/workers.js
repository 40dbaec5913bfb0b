// Decompression by workers of the web.

import { Bzip2Error } from './decompress.js';
import { parallel } from './parallel.js';

let url;

function start(text, answer, failed) {
  url ??= URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const worker = new Worker(url);
  worker.onmessage = ({ data }) => answer(data);
  worker.onerror = failed;
  return worker;
}

const { decompress, decompressIterable, Bzip2DecompressionStream } =
  parallel(start, () => globalThis.navigator?.hardwareConcurrency ?? 2);

export { Bzip2Error, Bzip2DecompressionStream, decompress, decompressIterable };
