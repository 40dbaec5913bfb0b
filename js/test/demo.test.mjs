// The demo page in a headless Chromium, through the DevTools protocol on a pipe.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync }
  from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compress, decompress } from 'hybz';

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => !spawnSync(name, ['--version']).error);
const skip = !browser ? 'chromium is not installed' : spawnSync('tar', ['--version']).error && 'tar is not installed';

/** A page in a separate browser, whose profile is in `folder`. */
class Page {
  constructor(folder) {
    const flags = ['--headless', '--no-sandbox', '--remote-debugging-pipe', `--user-data-dir=${folder}/profile`];
    this.process = spawn(browser, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    [this.count, this.calls, this.seen] = [0, new Map(), []];
    let rest = '';
    this.process.stdio[4].on('data', (data) => {
      const messages = (rest + data).split('\0');
      rest = messages.pop();
      for (const { id, result, error, ...event } of messages.map((text) => JSON.parse(text))) {
        if (id) this.calls.get(id)(error ? Promise.reject(new Error(error.message)) : result);
        else this.seen.push(event);
      }
    });
  }

  send(method, params = {}) {
    const id = ++this.count;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
    return new Promise((resolve) => this.calls.set(id, resolve));
  }

  async open(url, folder) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    ({ sessionId: this.session } = await this.send('Target.attachToTarget', { targetId, flatten: true }));
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await this.send(`${domain}.enable`);
    await this.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
    await this.send('Page.navigate', { url });
    await this.until("document.readyState === 'complete'");
  }

  async value(expression) {
    const { result } = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    return result.value;
  }

  async until(expression) {
    for (let n = 0; n < 600; n++, await sleep(100)) if (await this.value(expression)) return;
    throw new Error(`never: ${expression}`);
  }

  /** Chooses a file and waits for what the page makes of it. */
  async choose(path) {
    await this.value("document.getElementById('state').textContent = ''");
    const { root } = await this.send('DOM.getDocument');
    const { nodeId } = await this.send('DOM.querySelector', { nodeId: root.nodeId, selector: '#file' });
    await this.send('DOM.setFileInputFiles', { nodeId, files: [path] });
    await this.until("/ made in /.test(document.getElementById('state').textContent)");
  }

  async picture(name) {
    if (!process.env.HYBZ_PICTURES) return;
    const { data } = await this.send('Page.captureScreenshot');
    writeFileSync(join(process.env.HYBZ_PICTURES, `${name}.png`), Buffer.from(data, 'base64'));
  }
}

test('the demo in Chromium', { skip: skip || false, timeout: 300_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'hybz-demo-'));
  const page = new Page(folder);
  t.after(async () => {
    const ended = new Promise((resolve) => page.process.on('exit', resolve));
    page.process.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const saved = async (name, selector) => {
    rmSync(join(folder, 'saved', name), { force: true });
    await page.value(`document.querySelector('${selector}').click()`);
    for (let n = 0; n < 300 && !existsSync(join(folder, 'saved', name)); n++) await sleep(100);
    return readFileSync(join(folder, 'saved', name));
  };
  const shown = (id) => page.value(`(it => it.hidden ? null : it.textContent)(document.getElementById('${id}'))`);
  const html = fileURLToPath(new URL('../dist/demo.html', import.meta.url));
  mkdirSync(join(folder, 'saved'));
  await page.open(`file://${html}`, join(folder, 'saved'));

  const text = Buffer.from(Array.from({ length: 150_000 }, (_, n) => `line ${n * n}\n`).join(''));
  const coded = Buffer.from(compress(text, { level: 1 }));
  writeFileSync(join(folder, 'lines.txt.bz2'), coded);
  await page.choose(join(folder, 'lines.txt.bz2'));
  assert.ok((await saved('lines.txt', '#save')).equals(text));
  assert.ok((await shown('text')).startsWith('line 0\nline 1\n'));
  assert.equal(await shown('error'), null);
  await page.picture('text');

  const long = `folder/${'n'.repeat(90)}/${'m'.repeat(90)}`;
  mkdirSync(join(folder, long), { recursive: true });
  writeFileSync(join(folder, 'folder/one.txt'), 'one');
  writeFileSync(join(folder, long, 'two.bin'), text);
  for (const format of ['gnu', 'ustar', 'pax']) {
    execFileSync('tar', [`--format=${format}`, '-C', folder, '-cf', join(folder, 'all.tar'), 'folder']);
    writeFileSync(join(folder, 'all.tar.bz2'), compress(readFileSync(join(folder, 'all.tar'))));
    await page.choose(join(folder, 'all.tar.bz2'));
    const names = await page.value("Array.from(document.querySelectorAll('#entries tbody td:first-child'), "
      + '(cell) => cell.textContent).sort().join()');
    const wanted = ['folder/', 'folder/one.txt', `${long}/`, `${long}/two.bin`, `${long.slice(0, 97)}/`];
    assert.equal(names, wanted.sort().join());
    assert.ok((await saved('two.bin', '#entries a[download="two.bin"]')).equals(text));
    assert.equal((await saved('one.txt', '#entries a[download="one.txt"]')).toString(), 'one');
    assert.ok((await saved('all.tar', '#save')).equals(readFileSync(join(folder, 'all.tar'))));
  }
  await page.picture('tar');

  // The tar entry that holds a link's long target is not listed, and a negative size does not make the reader go back.
  symlinkSync('t'.repeat(150), join(folder, 'link'));
  const links = execFileSync('tar', ['--format=gnu', '-C', folder, '-cf', '-', 'link']).subarray(0, 1536);
  const back = Buffer.from(links.subarray(1024));
  back.write('-2000\0', 124);
  writeFileSync(join(folder, 'links.tar.bz2'), compress(Buffer.concat([links, back, Buffer.alloc(1024)])));
  await page.choose(join(folder, 'links.tar.bz2'));
  assert.equal(await page.value("document.querySelector('#entries tbody').textContent"), 'link');

  const damaged = Buffer.from(coded);
  damaged[damaged.length >> 1] ^= 16;
  writeFileSync(join(folder, 'damaged.txt.bz2'), damaged);
  await page.choose(join(folder, 'damaged.txt.bz2'));
  let message;
  assert.throws(() => decompress(damaged), (error) => (({ message } = error), true));
  assert.equal(await shown('error'), `${message}. What came before can be saved.`);
  const good = await saved('damaged.txt', '#save');
  assert.ok(good.length > 100_000 && good.equals(text.subarray(0, good.length)));
  await page.picture('damaged');

  renameSync(join(folder, 'saved/lines.txt'), join(folder, 'lines.txt'));
  await page.choose(join(folder, 'lines.txt'));
  assert.ok((await saved('lines.txt.bz2', '#save')).equals(Buffer.from(compress(text))));

  assert.equal(await page.value("fetch('data:,x').then(() => 'open', () => 'shut')"), 'shut');
  const errors = page.seen.filter(({ method, params }) => method === 'Runtime.exceptionThrown'
    || (method === 'Log.entryAdded' && params.entry.level === 'error' && !params.entry.text.includes('data:,x')));
  assert.deepEqual(errors, []);
});
