import type { Transform } from 'node:stream';
import type { CompressOptions, DecompressOptions } from './index.js';

/** A Transform that decompresses. */
export function createDecompress(options?: DecompressOptions): Transform;

/** A Transform that compresses. */
export function createCompress(options?: CompressOptions): Transform;
