import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writePrivateFile } from '../../src/private-file.ts';
import { openSecrets } from '../../src/secrets.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(tmpdir(), 'secrets-'));
  file = path.join(folder, 'secrets.json');
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

test('only the owner can read new secrets, and the folder contains no other file', () => {
  openSecrets(folder);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(folder)).toEqual(['secrets.json']);
});

test('secrets are the same when they are opened again, with later changes', () => {
  const first = openSecrets(folder);
  first.update({ hubApiKey: 'svcc_key' });
  expect(openSecrets(folder).secrets).toEqual({ ...first.secrets, hubApiKey: 'svcc_key' });
});

test('two data folders have different secrets', () => {
  const [one, other] = [secretsIn('one'), secretsIn('other')];
  const shared = [
    'postgresPassword',
    'hubPassword',
    'fleetPassword',
    'encryptionKeys',
    'hubEncryptionKeys',
    'temporaryAdminPassword',
  ] as const;
  expect(shared.filter((name) => one[name] === other[name])).toEqual([]);
});

test('the encryption key is a key id and 32 bytes in base64', () => {
  const [kid, key = ''] = openSecrets(folder).secrets.encryptionKeys.split(':');
  expect(kid).toBe('local');
  expect(Buffer.from(key, 'base64')).toHaveLength(32);
});

test('a secret that an earlier version did not store is created once', () => {
  const { hubEncryptionKeys: _, ...earlier } = openSecrets(folder).secrets;
  fs.writeFileSync(file, JSON.stringify(earlier));
  const { secrets } = openSecrets(folder);
  expect(secrets).toMatchObject(earlier);
  expect(openSecrets(folder).secrets).toEqual(secrets);
});

test('an invalid file of secrets is reported and not changed', () => {
  fs.writeFileSync(file, '{"postgresPassword": ');
  expect(() => openSecrets(folder)).toThrow(`${file} is not readable`);
  expect(fs.readFileSync(file, 'utf8')).toBe('{"postgresPassword": ');
});

test('writing a private file replaces it, so that a reader of the old file can read it completely', () => {
  writePrivateFile(file, 'old');
  const reader = fs.openSync(file, 'r');
  writePrivateFile(file, 'new and longer');
  const read = fs.readFileSync(reader, 'utf8');
  fs.closeSync(reader);
  expect(read).toBe('old');
  expect(fs.readFileSync(file, 'utf8')).toBe('new and longer');
});

function secretsIn(name: string) {
  fs.mkdirSync(path.join(folder, name));
  return openSecrets(path.join(folder, name)).secrets;
}
