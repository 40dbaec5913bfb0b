// The interface of the package unbzip2-stream.

import { createDecoder } from './decompress.js';
import { CoderTransform } from './transform.js';

/**
 * Behaves like a stream of the package `through`: after an error it emits neither data nor `end` nor `close`, and
 * ignores what is written. An empty input has an empty text.
 */
class Through extends CoderTransform {
  constructor() {
    super(createDecoder());
    this.broken = false;
    this.any = false;
  }

  _transform(chunk, encoding, done) {
    this.any ||= chunk.length > 0;
    if (this.broken) return done();
    return super._transform(chunk, encoding, done);
  }

  _flush(done) {
    if (this.broken) return undefined;
    return this.any ? super._flush(done) : done();
  }

  failed(error, done) {
    this.broken = true;
    this.emit('error', error);
    if (!this.writableEnded) done();
  }
}

/** A stream that decompresses what is written to it. */
export default function unbzip2Stream() {
  return new Through();
}
