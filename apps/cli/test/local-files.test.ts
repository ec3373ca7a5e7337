// Files of other programs: contexts of Docker, kubeconfigs and TLS bundles.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readDockerContext } from '../src/local/docker-context.ts';
import { readKubeconfig } from '../src/local/kubeconfig.ts';
import { readTls } from '../src/local/pem.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'svc-files-'));
const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string): string => {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

/** Valid until 2126. */
const CA = `-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUHeDpr1LbGJHSJ1FiDQ6O61aM0yAwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZW5naW5lczAgFw0yNjExMjcwOTQ0MjlaGA8yMTI2MTEwMzA5
NDQyOVowEjEQMA4GA1UEAwwHZW5naW5lczBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABJuiiJvmjk2m35xbbg5WFO+dMgwyvTKDblrNcAxw1FQOQE7Q3RKMwx5gX3QO
SbBo0gAm+Lzxf9JR588OAhdkT/GjUzBRMB0GA1UdDgQWBBSZNDxIPjQdeUdeuJZv
jC8oDRujFjAfBgNVHSMEGDAWgBSZNDxIPjQdeUdeuJZvjC8oDRujFjAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCp8SSjU2o7csQwkxOOCPB8dl8o
dLMqKc6tT5jHBbVGWQIgV4nlIcJQDUMNYH3ZOU6iv/GumOtFp/56pckjZFCdDKs=
-----END CERTIFICATE-----
`;
const CLIENT = `-----BEGIN CERTIFICATE-----
MIIBfjCCASOgAwIBAgIUPf1hpkaUZ7OQJ7RmAs08SyZVfqowCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZW5naW5lczAgFw0yNjExMjcwOTQ0MjlaGA8yMTI2MTEwMzA5
NDQyOVowEDEOMAwGA1UEAwwFZmxlZXQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATHL7Qj9kJvsJJlLzQUoPHbX0Bdrkgdco8HTxQ8kTQ+VfwKE2szGA75kQRvqCsC
XtWxGUKNInb4LwBxZoluoZTNo1cwVTATBgNVHSUEDDAKBggrBgEFBQcDAjAdBgNV
HQ4EFgQURx0YjnIvONxFzdFlFm/lQ5neEQ4wHwYDVR0jBBgwFoAUmTQ8SD40HXlH
XriWb4wvKA0boxYwCgYIKoZIzj0EAwIDSQAwRgIhAI9OzFBQY4G3y8aExIUqBZMC
p8SyenihPEyn/N0SPDeKAiEA6LNJu1pCaKkZBx4gU8IcJizWbOW5CfjyByKt7NNR
+qc=
-----END CERTIFICATE-----
`;
const KEY = String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
const credentials = { ca_certificate: CA, certificate: CLIENT, key: KEY };

describe('a TLS bundle', () => {
  test('is a folder with the files of Docker', () => {
    write('tls/ca.pem', CA);
    write('tls/cert.pem', CLIENT);
    write('tls/key.pem', KEY);
    expect(readTls(path.join(folder, 'tls'))).toEqual(credentials);
  });

  test.each([
    ['key, certificate, authority', [KEY, CLIENT, CA]],
    ['authority, key, certificate', [CA, KEY, CLIENT]],
  ])('is one file with its parts in any order: %s', (_, parts) => {
    expect(readTls(write('bundle.pem', parts.join('\n')))).toEqual(credentials);
  });

  test('without a part is refused', () => {
    expect(() => readTls(write('bundle.pem', CLIENT + KEY))).toThrow('must contain a private key');
    expect(() => readTls(path.join(folder, 'missing'))).toThrow('does not exist');
    mkdirSync(path.join(folder, 'empty'), { recursive: true });
    expect(() => readTls(path.join(folder, 'empty'))).toThrow('has no ca.pem, cert.pem, key.pem');
  });
});

describe('a context of Docker', () => {
  const aContext = (name: string, endpoint: string) => {
    process.env.DOCKER_CONFIG = folder;
    const id = createHash('sha256').update(name).digest('hex');
    write(`contexts/meta/${id}/meta.json`, JSON.stringify({ Name: name, Endpoints: { docker: { Host: endpoint } } }));
    return id;
  };

  test('has the address and the TLS files', () => {
    const id = aContext('machine', 'tcp://machine:2376');
    for (const [name, text] of Object.entries({ 'ca.pem': CA, 'cert.pem': CLIENT, 'key.pem': KEY })) {
      write(`contexts/tls/${id}/docker/${name}`, text);
    }
    expect(readDockerContext('machine')).toEqual({ endpoint: 'tcp://machine:2376', credentials });
  });

  test('of a local socket has no TLS files', () => {
    aContext('local', 'unix:///var/run/docker.sock');
    expect(readDockerContext('local')).toEqual({ endpoint: 'unix:///var/run/docker.sock', credentials: null });
  });

  test('over ssh, or one that does not exist, is refused', () => {
    aContext('ssh', 'ssh://machine');
    expect(() => readDockerContext('ssh')).toThrow('tcp:// and unix:// only');
    expect(() => readDockerContext('../../other')).toThrow('Docker has no context');
  });
});

describe('a context of a kubeconfig', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const aConfig = (user: object, cluster: object = {}) =>
    write(
      'kubeconfig.yaml',
      JSON.stringify({
        contexts: [{ name: 'lab', context: { cluster: 'one', user: 'me', namespace: 'apps' } }],
        clusters: [{ name: 'one', cluster: { server: 'https://lab.example.test', ...cluster } }],
        users: [{ name: 'me', user }],
      }),
    );
  const common = { server: 'https://lab.example.test', namespace: 'apps' };

  test('has a token and an authority', async () => {
    const file = aConfig({ token: 't' }, { 'certificate-authority-data': base64(CA) });
    const auth = { kind: 'token', token: 't' };
    expect(await readKubeconfig(file, 'lab')).toEqual({ ...common, ca_certificate: CA, auth });
    process.env.KUBECONFIG = file;
    expect(await readKubeconfig(undefined, 'lab')).toMatchObject({ auth });
  });

  test('has a client certificate, in the file or in files beside it', async () => {
    write('client.crt', CLIENT);
    write('client.key', KEY);
    const auth = { kind: 'client_certificate', certificate: CLIENT, key: KEY };
    const data = { 'client-certificate-data': base64(CLIENT), 'client-key-data': base64(KEY) };
    expect(await readKubeconfig(aConfig(data), 'lab')).toEqual({ ...common, ca_certificate: null, auth });
    const files = { 'client-certificate': 'client.crt', 'client-key': 'client.key' };
    expect(await readKubeconfig(aConfig(files), 'lab')).toEqual({ ...common, ca_certificate: null, auth });
  });

  test.each<[string, object, object, string]>([
    ['that names a program', { exec: { command: 'touch', args: ['/tmp/x'] } }, {}, 'names a program'],
    ['that does not verify the server', { token: 't' }, { 'insecure-skip-tls-verify': true }, 'does not verify'],
  ])('%s is refused', async (_, user, cluster, message) => {
    await expect(readKubeconfig(aConfig(user, cluster), 'lab')).rejects.toThrow(message);
  });

  test('that does not exist is refused', async () => {
    await expect(readKubeconfig(aConfig({ token: 't' }), 'other')).rejects.toThrow('has no context other');
    await expect(readKubeconfig(path.join(folder, 'none'), 'lab')).rejects.toThrow('does not exist');
  });
});
