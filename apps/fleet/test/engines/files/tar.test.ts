import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tarOf } from '../../../src/engines/docker/files/tar.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'archive-'));
afterAll(() => rmSync(folder, { recursive: true }));

const LONG = `/srv/${'directory/'.repeat(20)}straße.conf`;
const files = [
  { path: '/etc/app/app.conf', content: 'port = 8080\n', mode: '0444' },
  { path: '/opt/empty', content: '', mode: '0444' },
  { path: '/opt/run', content: '#!/bin/sh\necho ä\n', mode: '0555' },
  { path: LONG, content: 'x'.repeat(65_536), mode: '0444' },
];

test('another program extracts the files with their paths, contents and modes', async () => {
  const archive = path.join(folder, 'files.tar');
  writeFileSync(archive, tarOf(files));
  execFileSync('tar', ['-C', folder, '-xpf', archive]);
  for (const { path: name, content, mode } of files) {
    const extracted = path.join(folder, name);
    expect(await readFile(extracted, 'utf8')).toBe(content);
    expect(statSync(extracted).mode & 0o777).toBe(Number.parseInt(mode, 8));
  }
});

test('equal files are equal bytes, in whole blocks', () => {
  const archive = tarOf(files);
  expect(archive.equals(tarOf(structuredClone(files)))).toBe(true);
  expect(archive.length % 512).toBe(0);
});
