import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { commonSettings, readSettings, secretNamesOf } from '../../src/index.ts';
import { MAX_SECRET_BYTES } from '../../src/process/secret-files.ts';

const schema = z.object(commonSettings({ port: '4100' }));
const DATABASE_URL = 'postgresql://svc:hunter2@127.0.0.1/svc';
const token = '0123456789abcdef';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'secret files '));
});
afterEach(() => rm(folder, { recursive: true }));

const aFile = async (content: string | Uint8Array) => {
  const file = path.join(folder, 'secret');
  await writeFile(file, content);
  return file;
};
const read = (environment: NodeJS.ProcessEnv) => readSettings(schema, { DATABASE_URL, ...environment });
const tokenIn = async (content: string) => read({ METRICS_TOKEN_FILE: await aFile(content) }).METRICS_TOKEN;

test('the secrets of both services are the database URLs and the token for metrics', () => {
  expect(secretNamesOf(schema)).toEqual(['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'METRICS_TOKEN']);
});

test.each([
  ['without a line break', token, token],
  ['with a line break at the end', `${token}\n`, token],
  ['with a line break of Windows at the end', `${token}\r\n`, token],
  ['with spaces and two line breaks', ` ${token} \n\n`, ` ${token} \n`],
  ['of the maximum size', 'a'.repeat(MAX_SECRET_BYTES), 'a'.repeat(MAX_SECRET_BYTES)],
])('a file %s is read', async (_, content, expected) => {
  expect(await tokenIn(content)).toBe(expected);
});

test('a symbolic link to a file is read, because Kubernetes mounts secrets as links', async () => {
  const link = path.join(folder, 'link');
  await symlink(await aFile(token), link);
  expect(read({ METRICS_TOKEN_FILE: link }).METRICS_TOKEN).toBe(token);
});

test('a required secret can come from a file', async () => {
  const settings = read({ DATABASE_URL: '', DATABASE_URL_FILE: await aFile(`${DATABASE_URL}\n`) });
  expect(settings.DATABASE_URL).toBe(DATABASE_URL);
});

test.each(['', '\n'])('the file content %j counts as not set', async (content) => {
  expect(await tokenIn(content)).toBeUndefined();
});

test('an empty variable for the file or for the value counts as not set', async () => {
  expect(read({ METRICS_TOKEN_FILE: '', METRICS_TOKEN: token }).METRICS_TOKEN).toBe(token);
  expect(read({ METRICS_TOKEN_FILE: await aFile(token), METRICS_TOKEN: '' }).METRICS_TOKEN).toBe(token);
});

test('a setting that is not secret cannot come from a file', async () => {
  expect(read({ PORT_FILE: await aFile('4321') }).PORT).toBe(4100);
});

describe('rejected with one line and without the content:', () => {
  const errorOf = (environment: NodeJS.ProcessEnv) => {
    try {
      read(environment);
    } catch (error) {
      return String(error);
    }
    throw new Error('the environment was accepted');
  };
  const expectError = (environment: NodeJS.ProcessEnv, error: string) =>
    expect(errorOf(environment)).toBe(`SettingsError: Invalid configuration:\n  ${error}`);

  test('the value and the file', async () => {
    const METRICS_TOKEN_FILE = await aFile(token);
    const error = 'METRICS_TOKEN and METRICS_TOKEN_FILE must not be set together: unset one of them';
    expectError({ METRICS_TOKEN: token, METRICS_TOKEN_FILE }, error);
  });

  test('a file that does not exist, also for a required secret', () => {
    const file = path.join(folder, 'none');
    const error = `DATABASE_URL_FILE: the file ${file} cannot be read: it does not exist`;
    expectError({ DATABASE_URL: '', DATABASE_URL_FILE: file }, error);
  });

  test('a folder', () => {
    const error = `METRICS_TOKEN_FILE: the file ${folder} is not a regular file`;
    expectError({ METRICS_TOKEN_FILE: folder }, error);
  });

  test('a named pipe, without waiting for its writer', () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expectError({ METRICS_TOKEN_FILE: pipe }, `METRICS_TOKEN_FILE: the file ${pipe} is not a regular file`);
  });

  test('a file that is too long', async () => {
    const file = await aFile('a'.repeat(MAX_SECRET_BYTES + 1));
    expectError({ METRICS_TOKEN_FILE: file }, `METRICS_TOKEN_FILE: the file ${file} is longer than 65536 bytes`);
  });

  test('a file that is not text', async () => {
    const file = await aFile(Uint8Array.of(0xc3, 0x28));
    expectError({ METRICS_TOKEN_FILE: file }, `METRICS_TOKEN_FILE: the file ${file} is not UTF-8 text`);
  });

  test('an invalid value in a file', async () => {
    expectError({ METRICS_TOKEN_FILE: await aFile('hunter2') }, 'METRICS_TOKEN: must have at least 16 characters');
  });

  test('a file that the process may not read', async () => {
    const file = await aFile(token);
    await chmod(file, 0);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) expect(read({ METRICS_TOKEN_FILE: file }).METRICS_TOKEN).toBe(token);
    else
      expectError(
        { METRICS_TOKEN_FILE: file },
        `METRICS_TOKEN_FILE: the file ${file} cannot be read: permission denied`,
      );
  });
});
