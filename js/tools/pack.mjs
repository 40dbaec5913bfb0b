// Makes js/dist from js/src: each module as it is and as CommonJS, and the WebAssembly as text in a separate module,
// which Node, browsers and bundlers all load without a file or a fetch.
//
// The sources import and export in a few forms only, and anything else is an error here.

import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const root = new URL('..', import.meta.url);
const read = (name) => readFileSync(new URL(name, root), 'utf8');
const write = (name, text) => writeFileSync(new URL(`dist/${name}`, root), text);
const required = (from) => `require('${from.replace(/^(\.\/.*)\.js$/, '$1.cjs')}')`;

/** A module as CommonJS. */
function commonjs(source, name) {
  const exported = [];
  const text = source
    .replace(/^import \{ (.*) \} from '(.*)';$/gm, (_, names, from) => `const { ${names} } = ${required(from)};`)
    .replace(/^import (\w+) from '(.*)';$/gm, (_, one, from) => `const ${one} = ${required(from)};`)
    .replace(/^export \* from '(.*)';$/gm, (_, from) => `Object.assign(exports, ${required(from)});`)
    .replace(/^export \{ (.*) \};$/gm, (_, names) => void exported.push(...names.split(', ')) ?? '')
    .replace(/^export default function (\w+)/gm, 'module.exports = $1;\nfunction $1')
    .replace(/^export default /gm, 'module.exports = ')
    .replace(/^export ((?:async )?function\*? |class |const )(\w+)/gm, (_, kind, one) => {
      exported.push(one);
      return kind + one;
    });
  if (/^(import|export) /m.test(text)) throw new Error(`${name}: an import or export of another form`);
  const list = exported.length > 0 ? `Object.assign(exports, { ${exported.join(', ')} });\n` : '';
  return `'use strict';\n${text}\n${list}`;
}

/** Bytes as printable characters, for `unpack` in src/core.js. */
function printable(bytes) {
  const char = (value) => String.fromCharCode(32 + value);
  const pair = (value) => char(93 + Math.floor(value / 95)) + char(value % 95);
  return JSON.stringify(Array.from(bytes, (byte) => (byte < 93 ? char(byte) : pair(byte - 93))).join(''));
}

const sizes = [];
const put = (name, source) => {
  write(`${name}.js`, source);
  write(`${name}.cjs`, commonjs(source, name));
};
for (const name of ['decode', 'encode']) {
  const wasm = readFileSync(new URL(`dist/${name}.wasm`, root));
  put(`${name}.wasm`, `export default ${printable(wasm)};\n`);
  sizes.push(`${name}.wasm ${wasm.length} bytes, ${gzipSync(wasm, { level: 9 }).length} gzipped`);
}
put('worker.text', `export default ${JSON.stringify(read('worker/worker.js'))};\n`);
// Comments are for readers of src/; users have the comments in types/.
const bare = (source) => source.replace(/^ *\/\*\*[\s\S]*?\*\/\n|^ *\/\/.*\n/gm, '');
for (const file of readdirSync(new URL('src', root))) put(file.replace(/\.js$/, ''), bare(read(`src/${file}`)));
for (const file of readdirSync(new URL('types', root))) {
  write(file, read(`types/${file}`));
  write(file.replace(/\.d\.ts$/, '.d.cts'), read(`types/${file}`).replaceAll(".js'", ".cjs'"));
}

// The demo is one file that contains these files, without modules, so that it also runs from a disk.
const names = ['core', 'streams', 'decode.wasm', 'encode.wasm', 'decompress', 'compress'];
const parts = [...names, 'worker.text', 'pool', 'parallel', 'workers'].map((name) =>
  `'./${name}.cjs': (exports, module, require) => {\n${read(`dist/${name}.cjs`)}}`);
const loader = `
const files = { ${parts.join(',\n')} };
const loaded = {};
function load(name) {
  if (!loaded[name]) {
    const module = (loaded[name] = { exports: {} });
    files[name](module.exports, module, load);
  }
  return loaded[name].exports;
}`.replaceAll('</script', '<\\/script');
const page = read('demo/index.html').replace('MODULES', () => loader);
const digest = createHash('sha256').update(/<script>(.*)<\/script>/s.exec(page)[1]).digest('base64');
const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${digest}' 'wasm-unsafe-eval'; ` +
  "worker-src blob:; base-uri 'none'; form-action 'none'";
write('demo.html', page.replace('POLICY', () => policy));

/** The gzipped size of everything that decompression loads. */
const decoding = ['core.js', 'streams.js', 'decompress.js', 'decode.wasm.js'].map((name) => read(`dist/${name}`));
sizes.push(`decompression in all: ${gzipSync(decoding.join(''), { level: 9 }).length} bytes gzipped`);
console.log(sizes.join('\n'));
