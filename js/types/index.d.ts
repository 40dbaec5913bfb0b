import type { Bytes, Coder, Source } from './decompress.js';

export * from './decompress.js';

export interface CompressOptions {
  /** The block size, 1 to 9 times 100,000 bytes; 9 if it is not given. */
  level?: number;
}

/** `bytes` as one .bz2 stream: the bytes that bzip2 1.0.8 writes. */
export function compress(bytes: Bytes, options?: CompressOptions): Uint8Array;

/** The .bz2 stream of the text that a source yields. */
export function compressIterable(source: Source, options?: CompressOptions): AsyncGenerator<Uint8Array, void>;

/** An encoder to which the caller pushes text. */
export function createEncoder(options?: CompressOptions): Coder;

/** Works like a CompressionStream. */
export class Bzip2CompressionStream {
  constructor(options?: CompressOptions);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Bytes>;
}
