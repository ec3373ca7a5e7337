import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';

const lifetimeModule = pathToFileURL(path.resolve(import.meta.dirname, '..', 'dist', 'lifetime.js')).href;

/** What runs until its lifetime ends: says when it has begun, and why it ends. */
const watched = `
  import { openLifetime, watchForStop } from '${lifetimeModule}';
  const lifetime = openLifetime();
  watchForStop(lifetime, { watchParents: true });
  const keepAlive = setInterval(() => {}, 1000);
  lifetime.signal.addEventListener('abort', () => {
    console.log(lifetime.signal.reason.message);
    clearInterval(keepAlive);
  });
  console.log('watching');
`;

/** A process that starts it as npm starts a script: in a shell that waits for it. */
const npmLike = `
  const { spawn } = require('node:child_process');
  const script = '"$0" --input-type=module -e "$1"; exit';
  spawn('/bin/sh', ['-c', script, process.execPath, process.argv[1]], { stdio: 'inherit' });
`;

test('it ends when npm is killed, though the shell between them lives on', async () => {
  const npm = spawn(process.execPath, ['-e', npmLike, watched], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  npm.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
    if (text === 'watching\n') npm.kill('SIGKILL');
  });
  await once(npm.stdout, 'end'); // when the last process that holds it is gone
  expect(said).toBe('watching\nnpm is gone\n');
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('it ends once on %s, however often that comes', async (signal) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', watched], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
    if (text === 'watching\n') for (let times = 0; times < 3; times += 1) child.kill(signal);
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(said).toBe(`watching\n${signal}\n`);
});
