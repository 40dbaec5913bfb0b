// Coders as streams of Node.

import { createDecoder } from './decompress.js';
import { createEncoder } from './compress.js';
import { CoderTransform } from './transform.js';

/** A Transform that decompresses. */
export function createDecompress(options) {
  return new CoderTransform(createDecoder(options));
}

/** A Transform that compresses. */
export function createCompress(options) {
  return new CoderTransform(createEncoder(options));
}
