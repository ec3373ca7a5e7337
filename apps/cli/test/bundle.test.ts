// The built file, as it is installed.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const dist = path.resolve(import.meta.dirname, '../dist');
const alone = mkdtempSync(path.join(tmpdir(), 'svc-file-')); // no packages are above it
const file = path.join(alone, 'svc.mjs');
copyFileSync(path.join(dist, 'svc.mjs'), file);
afterAll(() => rmSync(alone, { recursive: true }));

const run = (program: string, args: readonly string[], input = '') =>
  spawnSync(program, args, { encoding: 'utf8', input, env: { PATH: process.env.PATH, HOME: alone } });

test('the client is one file that runs alone, and has no code of the services', () => {
  expect(readdirSync(dist)).toEqual(['svc.mjs']);
  expect(statSync(path.join(dist, 'svc.mjs')).mode & 0o111).toBe(0o111);
  const text = readFileSync(file, 'utf8');
  expect(text.split('\n', 1)).toEqual(['#!/usr/bin/env node']);
  expect(text.match(/PrismaClient|createService|jwtVerify/g)).toBeNull();
  // All modules that it imports are built in, also those that it imports later.
  expect(text.match(/\bimport\((?!["'`]node:)[^)]{0,80}\)/g)).toBeNull();
  const { version } = JSON.parse(readFileSync(path.resolve(dist, '../package.json'), 'utf8'));
  expect(run(process.execPath, [file, '--version'])).toMatchObject({ status: 0, stdout: `${version}\n` });
});

test('bash completes the commands and options of each place', () => {
  const script = `source <("$0" "$1" completion bash)
    complete_() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; echo "\${COMPREPLY[*]}"; }
    complete_ svc dep
    complete_ svc token ''
    complete_ svc --at fleet scale web 2 --dr`;
  const { stdout, stderr } = run('bash', ['-c', script, process.execPath, file]);
  expect(stderr).toBe('');
  const [commands, nested, options] = stdout.trimEnd().split('\n');
  expect(commands).toBe('deploy deployments');
  expect(nested).toMatch(/^create rotate revoke /);
  expect(options).toBe('--dry-run');
});

test('an error of the command line ends the process with 2', () => {
  expect(run(process.execPath, [file, 'scale', 'web', '2'])).toMatchObject({
    status: 2,
    stderr: 'Without a terminal, a change needs --yes.\n',
  });
});
