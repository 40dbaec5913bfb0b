import type { Bytes, DecompressOptions, Source } from './decompress.js';

export { Bzip2Error } from './decompress.js';

export interface WorkersOptions extends DecompressOptions {
  /** The number of workers; by default one for each core. */
  workers?: number;
}

/** The text of all consecutive .bz2 streams in `bytes`. */
export function decompress(bytes: Bytes, options?: WorkersOptions): Promise<Uint8Array>;

/** The text of the streams that a source yields. */
export function decompressIterable(source: Source, options?: WorkersOptions): AsyncGenerator<Uint8Array, void>;

/** Used as a DecompressionStream is. */
export class Bzip2DecompressionStream {
  constructor(options?: WorkersOptions);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Bytes>;
}
