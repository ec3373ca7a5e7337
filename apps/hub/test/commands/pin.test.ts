import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pinFolder } from '../../src/commands/publishing/pin.ts';

const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** How a registry behaves. */
interface Behaviour {
  /** Whether it wants a token, and the credentials for it. */
  readonly wants?: string | null;
  readonly statesDigest?: boolean;
  readonly realm?: string;
  readonly status?: number;
  /** How often it answers that it is busy. */
  busy?: number;
}

let behaviour: Behaviour = {};
let images: Record<string, { readonly body: string; readonly type: string }> = {};
const requests: string[] = [];

/** A registry on this machine. */
const server = createServer((req: IncomingMessage, res: ServerResponse) => {
  const { wants, statesDigest = true, realm = `${base}/token`, status, busy = 0 } = behaviour;
  const { authorization = '' } = req.headers;
  requests.push(`${req.method} ${req.url} ${authorization}`.trim());
  if (req.url?.startsWith('/token')) {
    const isRight = wants === null || authorization === `Basic ${Buffer.from(wants ?? '').toString('base64')}`;
    return void res.writeHead(isRight ? 200 : 401).end(JSON.stringify({ token: 'right' }));
  }
  if (busy > 0) {
    behaviour.busy = busy - 1;
    return void res.writeHead(429, { 'retry-after': '0' }).end();
  }
  if (status !== undefined) return void res.writeHead(status, { location: '/elsewhere' }).end();
  if (wants !== undefined && authorization !== 'Bearer right') {
    return void res.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="test"` }).end();
  }
  const image = images[req.url?.replace('/v2/', '').replace('/manifests/', ':') ?? ''];
  if (!image) return void res.writeHead(404).end();
  const headers = {
    'content-type': image.type,
    ...(statesDigest && { 'docker-content-digest': digestOf(image.body) }),
  };
  res.writeHead(200, headers).end(req.method === 'GET' ? image.body : undefined);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
const base = `http://${host}`;
const folders = mkdtempSync(path.join(tmpdir(), 'pin-'));
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folders, { recursive: true });
});

beforeEach(() => {
  behaviour = {};
  images = { 'team/app:1': { body: 'first', type: INDEX } };
  requests.length = 0;
});

const TEXT = `# An app
name: App
category: tools
registry_url: ${host}
image_name: team/app # from the team
image_tag: "1"
`;

function aFolder(files: Readonly<Record<string, string>> = { app: TEXT }): string {
  const folder = mkdtempSync(path.join(folders, 'catalog-'));
  mkdirSync(path.join(folder, 'templates'));
  writeFileSync(path.join(folder, 'categories.yaml'), '- { slug: tools, name: Tools }\n');
  for (const [slug, text] of Object.entries(files)) writeFileSync(path.join(folder, 'templates', `${slug}.yaml`), text);
  return folder;
}

const read = (folder: string, slug = 'app') => readFileSync(path.join(folder, 'templates', `${slug}.yaml`), 'utf8');
const pin = (folder: string, options: Readonly<Record<string, string | boolean>> = {}) =>
  pinFolder(folder, { allow: 'http,loopback', ...options });

test('writes the digest of the tag, and keeps the comments of the file', async () => {
  const folder = aFolder();
  expect(await pin(folder)).toEqual({
    lines: [
      `templates/app.yaml: ${host}/team/app:1 has no digest: ${digestOf('first')}`,
      '1 images, 1 written, 0 not resolved',
    ],
    isCurrent: true,
  });
  expect(read(folder)).toBe(`${TEXT}image_digest: ${digestOf('first')}\n`);
  expect((await pin(folder)).lines).toEqual(['1 images, 0 written, 0 not resolved']);
});

test('writes the digest of the image of each part of an application', async () => {
  const folder = aFolder({});
  const file = path.join(folder, 'applications', 'wiki.yaml');
  mkdirSync(path.dirname(file));
  const image = `registry_url: ${host}, image_name: team/app, image_tag: "1"`;
  const text = `name: Wiki\ncategory: tools\nparts:\n  # the pages\n  - { name: web, ${image} }\n  - { name: jobs, ${image} }\n`;
  writeFileSync(file, text);
  expect((await pin(folder)).lines.at(-1)).toBe('2 images, 2 written, 0 not resolved');
  const written = readFileSync(file, 'utf8');
  expect(written.split(`image_digest: ${digestOf('first')}`)).toHaveLength(3);
  expect(written).toContain('# the pages');
  expect((await pin(folder, { check: true })).isCurrent).toBe(true);
});

test('finds a tag that has moved with --check, and writes nothing', async () => {
  const folder = aFolder();
  await pin(folder);
  const before = read(folder);
  images = { 'team/app:1': { body: 'second', type: MANIFEST } };
  const { lines, isCurrent } = await pin(folder, { check: true });
  expect([isCurrent, lines[0]]).toEqual([
    false,
    `templates/app.yaml: ${host}/team/app:1 has moved: ${digestOf('second')} (for one architecture only)`,
  ]);
  expect(read(folder)).toBe(before);
  expect((await pin(folder)).isCurrent).toBe(true);
  expect((await pin(folder, { check: true })).isCurrent).toBe(true);
});

test('writes nothing if one image is absent', async () => {
  const folder = aFolder({ app: TEXT, other: TEXT.replace('team/app', 'team/other').replace('App', 'Other') });
  const { lines, isCurrent } = await pin(folder);
  expect(isCurrent).toBe(false);
  expect(lines[0]).toBe(`templates/other.yaml: ${host}/team/other:1: the registry has no image with this tag`);
  expect(read(folder)).toBe(TEXT);
});

test('asks for each image once, and leaves templates without an image', async () => {
  const folder = aFolder({ app: TEXT, copy: TEXT.replace('App', 'Copy'), none: 'name: None\ncategory: tools\n' });
  await pin(folder);
  expect(requests).toEqual(['HEAD /v2/team/app/manifests/1']);
  expect(read(folder, 'copy')).toContain(digestOf('first'));
});

test.each<[string, Behaviour]>([
  ['that states no digest', { statesDigest: false }],
  ['that wants a token', { wants: null }],
  ['that is busy twice', { busy: 2 }],
])('resolves a tag of a registry %s', async (_name, how) => {
  behaviour = how;
  const folder = aFolder();
  expect((await pin(folder)).isCurrent).toBe(true);
  expect(read(folder)).toContain(digestOf('first'));
});

test.each<[string, Behaviour, RegExp]>([
  ['a redirect', { status: 307 }, /answered with 307/],
  ['a failure', { status: 500 }, /answered with 500/],
  ['a registry that stays busy', { busy: 9 }, /answered with 429/],
  ['a refusal', { status: 403 }, /refuses access \(403\)/],
  [
    'an address for tokens on a metadata service',
    { wants: null, realm: 'http://169.254.169.254/t' },
    /cannot be reached/,
  ],
  ['no address for tokens', { wants: null, realm: 'x' }, /states no address for tokens/],
  ['wrong credentials', { wants: 'user:password' }, /gave no token \(401\)/],
])('reports %s, and writes nothing', async (_name, how, message) => {
  behaviour = how;
  const folder = aFolder();
  const { lines, isCurrent } = await pin(folder);
  expect([isCurrent, lines[0]]).toEqual([false, expect.stringMatching(message)]);
  expect(read(folder)).toBe(TEXT);
});

test('sends credentials of a file of Docker to their registry only', async () => {
  const file = path.join(folders, 'auth.json');
  const auth = Buffer.from('user:password').toString('base64');
  writeFileSync(file, JSON.stringify({ auths: { [host]: { auth }, 'https://index.docker.io/v1/': { auth: 'eDp5' } } }));
  behaviour = { wants: 'user:password' };
  expect((await pin(aFolder(), { 'registry-auth': file })).isCurrent).toBe(true);
  expect(requests.join('\n')).not.toContain('eDp5');
});

test('asks only public https addresses, unless others are allowed', async () => {
  const folder = aFolder();
  const { lines } = await pin(folder, { allow: '' });
  expect([lines[0], requests]).toEqual([expect.stringContaining('is not a public https address: --allow'), []]);
  await expect(pin(folder, { allow: 'unix' })).rejects.toThrow('must be http, loopback and private');
});
