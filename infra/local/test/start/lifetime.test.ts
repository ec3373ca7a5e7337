import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';

const lifetimeModule = pathToFileURL(path.resolve(import.meta.dirname, '../..', 'dist', 'lifetime.js')).href;

/** A program that runs until its lifetime ends. It prints when it has started and why it ends. */
const watched = `
  import { openLifetime, watchForStop } from '${lifetimeModule}';
  const lifetime = openLifetime();
  watchForStop(lifetime, { watchParents: true });
  const keepAlive = setInterval(() => {}, 1000);
  lifetime.signal.addEventListener('abort', () => {
    console.log(lifetime.signal.reason.message);
    setTimeout(() => clearInterval(keepAlive), 500); // the other signals can arrive later
  });
  console.log('watching');
`;

/** A program that starts its arguments like npm starts a script: in a shell that waits for it. */
const npmLike = `
  const { spawn } = require('node:child_process');
  spawn('/bin/sh', ['-c', '"$0" "$@"; exit', process.execPath, ...process.argv.slice(1)], { stdio: 'inherit' });
`;

/** A program that starts its arguments with another version of Node, as the bootstrap process does. */
const bootstrapLike = `
  import { spawn } from 'node:child_process';
  spawn(process.execPath, process.argv.slice(2), { stdio: 'inherit' });
`;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-lifetime-'));
const bootstrapScript = path.join(folder, 'infra', 'local', 'bootstrap.mjs');
fs.mkdirSync(path.dirname(bootstrapScript), { recursive: true });
fs.writeFileSync(bootstrapScript, bootstrapLike);
afterAll(() => fs.rmSync(folder, { recursive: true }));

test.each([
  ['the shell between them keeps', []],
  ['the shell and the bootstrap process between them keep', [bootstrapScript]],
])('a lifetime ends when npm is killed, even if %s running', async (_, between) => {
  const args = ['-e', npmLike, '--', ...between, '--input-type=module', '-e', watched];
  const npm = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    if (text === 'watching\n') npm.kill('SIGKILL');
  });
  await once(npm.stdout, 'end'); // when the last process that uses it has ended
  expect(output).toBe('watching\nnpm has exited\n');
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('a lifetime ends once on repeated %s', async (signal) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', watched], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    if (text === 'watching\n') for (let times = 0; times < 3; times += 1) child.kill(signal);
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(output).toBe(`watching\n${signal}\n`);
});
