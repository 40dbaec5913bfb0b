import type { Duplex } from 'node:stream';

/** A stream that decompresses what is written to it. */
declare function unbzip2Stream(): Duplex;
export = unbzip2Stream;
