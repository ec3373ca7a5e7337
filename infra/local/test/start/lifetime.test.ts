import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';

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

/** A program that starts it like npm starts a script: in a shell that waits for it. */
const npmLike = `
  const { spawn } = require('node:child_process');
  const script = '"$0" --input-type=module -e "$1"; exit';
  spawn('/bin/sh', ['-c', script, process.execPath, process.argv[1]], { stdio: 'inherit' });
`;

test('a lifetime ends when npm is killed, even if the shell between them keeps running', async () => {
  const npm = spawn(process.execPath, ['-e', npmLike, watched], { stdio: ['ignore', 'pipe', 'inherit'] });
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
