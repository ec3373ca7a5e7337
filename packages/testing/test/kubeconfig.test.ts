import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readKubeconfig } from '../src/cluster/index.ts';

const folders: string[] = [];

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

interface Members {
  readonly cluster?: object;
  readonly user?: object;
}

/** Creates a kubeconfig, and the files that it refers to. */
async function aFile({ cluster, user = { token: 't0ken' } }: Members, files: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-kubeconfig-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
  const config = {
    'current-context': 'mine',
    contexts: [
      { name: 'other', context: { cluster: 'nowhere', user: 'nobody' } },
      { name: 'mine', context: { cluster: 'here', user: 'me' } },
    ],
    clusters: [{ name: 'here', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'me', user }],
  };
  const file = path.join(folder, 'config');
  await writeFile(file, JSON.stringify(config)); // JSON is valid YAML
  return file;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a kubeconfig', () => {
  test('is read with embedded data', async () => {
    const user = { 'client-certificate-data': base64('certificate'), 'client-key-data': base64('key') };
    const file = await aFile({ cluster: { 'certificate-authority-data': base64('authority') }, user });
    expect(readKubeconfig(file)).toEqual({
      server: 'https://127.0.0.1:6443',
      ca_certificate: 'authority',
      auth: { kind: 'client_certificate', certificate: 'certificate', key: 'key' },
    });
  });

  test('is read with referenced files', async () => {
    const file = await aFile(
      { cluster: { 'certificate-authority': 'ca.pem' }, user: { tokenFile: 'token' } },
      { 'ca.pem': 'authority', token: 't0ken\n' },
    );
    expect(readKubeconfig(file)).toMatchObject({
      ca_certificate: 'authority',
      auth: { kind: 'token', token: 't0ken' },
    });
  });

  test.each<[Members, RegExp]>([
    [{ user: { exec: { command: 'aws' } } }, /exec is not supported/],
    [{ user: { 'auth-provider': { name: 'gcp' } } }, /auth-provider is not supported/],
    [{ user: { username: 'me', password: 'p4ssword' } }, /username and password are not supported/],
    [{ user: {} }, /must have a token or a client certificate/],
    [{ cluster: { 'insecure-skip-tls-verify': true } }, /insecure-skip-tls-verify is not supported/],
    [{ cluster: { 'proxy-url': 'http://proxy' } }, /proxy-url is not supported/],
    [{ cluster: { 'tls-server-name': 'other' } }, /tls-server-name is not supported/],
    [{ cluster: { server: 'http://127.0.0.1:8080' } }, /Invalid URL/],
  ])('is rejected with %j', async (members, why) => {
    const file = await aFile(members);
    expect(() => readKubeconfig(file)).toThrow(why);
  });
});
