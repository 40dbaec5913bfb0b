// A coder as a Transform of Node.

import { Transform } from 'node:stream';

/** Pauses while its reader is slow, also within a chunk: a small chunk may make gigabytes. */
export class CoderTransform extends Transform {
  constructor(coder, options) {
    super(options);
    this.coder = coder;
    this.resume_ = null;
  }

  _transform(chunk, encoding, done) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk;
    this.hand(this.coder.push(bytes), done);
  }

  _flush(done) {
    this.hand(this.coder.finish(), done);
  }

  /** Hands pieces on until the reader has enough. */
  hand(pieces, done) {
    try {
      for (;;) {
        if (this.destroyed) return done();
        const { value, done: ended } = pieces.next();
        if (ended) return done();
        if (!this.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))) {
          this.resume_ = () => this.hand(pieces, done);
          return undefined;
        }
      }
    } catch (error) {
      return this.failed(error, done);
    }
  }

  failed(error, done) {
    done(error);
  }

  _read(size) {
    const { resume_ } = this;
    this.resume_ = null;
    resume_?.();
    // If that finished a chunk, the Transform has kept the callback that asks for the next chunk, because the bytes
    // being read still count as unread. Nobody would read again.
    if (!this.resume_) super._read(size);
  }

  _destroy(error, done) {
    this.coder = null;
    super._destroy(error, done);
  }
}
