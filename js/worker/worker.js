// What a worker runs: it decodes single blocks. This is not a module: a worker gets it as text, so nothing is fetched.
// The first message has the WebAssembly module, each other message a block. If the caller is to decode a block itself,
// the answer has no text.

/** Longer texts are mostly runs: they are quick to make, and would take much memory here and in messages. */
const MOST = 4 << 20;

const port = globalThis.postMessage ? globalThis : require('node:worker_threads').parentPort;
let module;
let wasm;

function decode({ bytes, bit }) {
  wasm ??= new WebAssembly.Instance(module, {}).exports;
  const room = wasm.room(bytes.length) >>> 0;
  new Uint8Array(wasm.memory.buffer, room, bytes.length).set(bytes);
  if (wasm.decode_block(bytes.length, bit) < 0 || wasm.out_len() > MOST) return {};
  const text = new Uint8Array(wasm.memory.buffer, wasm.out() >>> 0, wasm.out_len()).slice();
  return { text, end: wasm.block_end(), crc: wasm.block_crc(), length: wasm.block_len() };
}

port.onmessage = ({ data }) => {
  if (data.module) return void ({ module } = data);
  let made = {};
  try {
    made = decode(data);
  } catch {
    wasm = undefined;
  }
  port.postMessage(made, made.text ? [made.text.buffer] : []);
};
