/** Bytes: a view or an ArrayBuffer. */
export type Bytes = Uint8Array | ArrayBufferView | ArrayBuffer;

/** A source of bytes in pieces. */
export type Source = Iterable<Bytes> | AsyncIterable<Bytes> | ReadableStream<Uint8Array>;

export interface DecompressOptions {
  /** Decode only the first stream. */
  single?: boolean;
}

/** Takes input in pieces and yields output. The iterators must be run to their ends. */
export interface Coder {
  push(bytes: Bytes): Generator<Uint8Array, void>;
  finish(): Generator<Uint8Array, void>;
}

/** Why an input cannot be decoded. */
export class Bzip2Error extends Error {
  readonly code: 'NOT_BZIP2' | 'TRUNCATED' | 'DATA' | 'BLOCK_TOO_LARGE' | 'INTERNAL';
  /** The number of the block, from 1 over all streams; 0 if no block is at fault. */
  readonly block: number;
  /** The bit of the input at which the block begins, or at which the input ends. */
  readonly bit: number;
}

/** The text of all consecutive .bz2 streams in `bytes`. Other bytes after them are ignored, as by bzip2. */
export function decompress(bytes: Bytes, options?: DecompressOptions): Uint8Array;

/** The text of the streams that a source yields. */
export function decompressIterable(source: Source, options?: DecompressOptions): AsyncGenerator<Uint8Array, void>;

/** A decoder to which the caller pushes input. */
export function createDecoder(options?: DecompressOptions): Coder;

/** Works like a DecompressionStream: `response.body.pipeThrough(new Bzip2DecompressionStream())`. */
export class Bzip2DecompressionStream {
  constructor(options?: DecompressOptions);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Bytes>;
}
