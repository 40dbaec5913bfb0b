// Workers that decode blocks.

import { KEEP } from './core.js';
import text from './worker.text.js';

/** A worker has one block to decode, and two more, since the calling thread may be slow to send others. */
const AHEAD = 3;

/**
 * Workers for all decoders: as many as any decoder has asked for. They start as blocks come. If one fails, all blocks
 * are answered without a text. `spare` is a decoder of the calling thread for the next file: a new one takes 5 ms.
 */
export class Pool {
  /** @param {Function} start starts a worker with a program's text; calls back with its answers, or if it fails */
  constructor(start) {
    Object.assign(this, { start, count: 0, users: 0, spare: undefined, failed: false, workers: [], queue: [] });
  }

  /** @param {WebAssembly.Module} module what the workers run */
  open(count, module) {
    this.module = module;
    clearTimeout(this.timer);
    this.users++;
    this.count = Math.max(this.count, count);
  }

  close() {
    if (--this.users > 0) return;
    this.timer = setTimeout(() => {
      for (const { worker } of this.workers) worker.terminate();
      Object.assign(this, new Pool(this.start));
    }, KEEP);
    this.timer.unref?.();
  }

  /** Queues the block at bit `bit` of `bytes`. The job's `made` will be the answer, empty if `bytes` are gone. */
  add(bytes, bit) {
    const job = { bytes, bit };
    job.made = new Promise((resolve) => (job.answer = resolve));
    this.queue.push(job);
    this.next();
    return job;
  }

  next() {
    while (this.queue.length > 0) {
      const few = Math.min(...this.workers.map(({ jobs }) => jobs.length));
      if (few > 0 && this.workers.length < this.count && !this.failed) {
        this.begin();
        continue;
      }
      if (few >= AHEAD && !this.failed) return;
      const job = this.queue.shift();
      if (this.failed || !job.bytes) {
        job.answer({});
        continue;
      }
      const { worker, jobs } = this.workers.find(({ jobs }) => jobs.length === few);
      jobs.push(job);
      worker.ref?.();
      worker.postMessage({ bytes: job.bytes, bit: job.bit }, [job.bytes.buffer]);
    }
  }

  begin() {
    const jobs = [];
    const failed = () => {
      this.failed = true;
      for (const { jobs } of this.workers) for (const job of jobs) job.answer({});
      this.next();
    };
    try {
      const worker = this.start(text, (made) => {
        jobs.shift().answer(made);
        if (jobs.length === 0) worker.unref?.();
        this.next();
      }, failed);
      this.workers.push({ worker, jobs });
      worker.postMessage({ module: this.module });
    } catch {
      failed();
    }
  }
}
