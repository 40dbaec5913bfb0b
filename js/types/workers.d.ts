import type { Bytes, DecompressOptions, Source } from './decompress.js';

export { Bzip2Error } from './decompress.js';

export interface WorkersOptions extends DecompressOptions {
  /** How many workers decode; as many as there are cores if it is not given. */
  workers?: number;
}

/** The text of all consecutive .bz2 streams in `bytes`. */
export function decompress(bytes: Bytes, options?: WorkersOptions): Promise<Uint8Array>;

/** The text of what a source yields. */
export function decompressIterable(source: Source, options?: WorkersOptions): AsyncGenerator<Uint8Array, void>;

/** As a DecompressionStream. */
export class Bzip2DecompressionStream {
  constructor(options?: WorkersOptions);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Bytes>;
}
