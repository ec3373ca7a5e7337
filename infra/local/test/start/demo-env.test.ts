import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type DemoEnv, quoteForShell, writeDemoEnv } from '../../src/demo-env.ts';

const values: DemoEnv = {
  HUB_URL: 'http://127.0.0.1:4100',
  FLEET_URL: 'http://127.0.0.1:4200',
  IDP_URL: 'http://127.0.0.1:4300',
  HUB_ADMIN_JWT: 'a.b.c',
  HUB_USER_JWT: 'd.e.f',
  HUB_API_KEY: 'it\'s $HOME `id` \\ "quoted" & so on',
  FLEET_ADMIN_TOKEN: 'two words',
  FLEET_OPERATOR_TOKEN: '#no comment',
  FLEET_VIEWER_TOKEN: '',
  TEMP_ADMIN_USERNAME: 'admin',
  TEMP_ADMIN_PASSWORD: "''",
};

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'demo-env-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

test('a shell that reads demo.env has the original values', () => {
  const file = writeDemoEnv(folder, values);
  const print = Object.keys(values).map((name) => `printf '%s\\0' "$${name}"`);
  const read = execFileSync('/bin/sh', ['-euc', `. ${quoteForShell(file)}; ${print.join('; ')}`], { encoding: 'utf8' });
  expect(read.split('\0').slice(0, -1)).toEqual(Object.values(values));
});

test('a shell that reads demo.env has the command svc, whatever its PATH is', () => {
  const file = writeDemoEnv(folder, values);
  const script = `. ${quoteForShell(file)}; PATH=; svc --help`;
  expect(execFileSync('/bin/sh', ['-euc', script], { encoding: 'utf8' })).toContain('Usage: svc');
});

test('only the owner can read demo.env, also if it existed before', () => {
  const file = path.join(folder, 'demo.env');
  fs.writeFileSync(file, 'HUB_URL=old\n', { mode: 0o644 });
  writeDemoEnv(folder, values);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(folder)).toEqual(['demo.env']);
});
