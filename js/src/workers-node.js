// Decompression by workers of Node.

import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Bzip2Error } from './decompress.js';
import { parallel } from './parallel.js';

/** The worker's text is a script, so workers must not get flags of the process, such as --input-type=module. */
const start = (text, answer, failed) =>
  new Worker(text, { eval: true, execArgv: [] }).on('message', answer).on('error', failed);

const { decompress, decompressIterable, Bzip2DecompressionStream } = parallel(start, availableParallelism);

export { Bzip2Error, Bzip2DecompressionStream, decompress, decompressIterable };
