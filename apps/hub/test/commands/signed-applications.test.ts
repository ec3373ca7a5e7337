// Signatures of applications: the commands of a publisher, and what the hub keeps and refuses.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { publicKeyOfPem } from '@svc/trust';
import { SIGNATURES } from '../../src/catalog/files/signatures-file.ts';
import { exportCatalog } from '../../src/commands/export.ts';
import { importCatalog } from '../../src/commands/import.ts';
import { newKey, revokeKey, writeKeyring } from '../../src/commands/publishing/keys.ts';
import { signFolder, verifyFolder } from '../../src/commands/publishing/sign.ts';
import { aSigner, signatureOf, signatureOfApplication } from '../signers.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const admin = await world.aUser('admin');
const folders = mkdtempSync(path.join(tmpdir(), 'signed-applications-'));
afterAll(async () => {
  rmSync(folders, { recursive: true });
  await world.stop();
});

const ADMIN = '/api/v1/admin/applications';
const WIKI = `name: Wiki
category: tools
inputs:
  - { name: title }
generated:
  - { name: password }
parts:
  - name: database
    image_name: team/database
    env: [{ name: PASSWORD, value: "\${generated.password}" }]
  - name: web
    image_name: team/web
    image_tag: "1"
    needs: [{ part: database }]
    ports: [{ containerPort: 80, publish: true }]
`;

const root = path.join(folders, 'root.pem');
const key = path.join(folders, 'key.pem');
await newKey(root, {});
await newKey(key, {});
const folder = path.join(folders, 'catalog');
mkdirSync(path.join(folder, 'templates'), { recursive: true });
mkdirSync(path.join(folder, 'applications'));
writeFileSync(path.join(folder, 'categories.yaml'), '- { slug: tools, name: Tools }\n');
writeFileSync(path.join(folder, 'templates', 'wiki.yaml'), 'name: Wiki\ncategory: tools\nimage_name: team/wiki\n');
const writeWiki = (text: string, into = folder) => writeFileSync(path.join(into, 'applications', 'wiki.yaml'), text);
writeWiki(WIKI);
await writeKeyring(folder, { publisher: 'acme', root, key: `${key}.pub` });

const signaturesIn = (of = folder) => JSON.parse(readFileSync(path.join(of, SIGNATURES), 'utf8'));
const copy = (name: string): string => {
  const to = path.join(folders, name);
  cpSync(folder, to, { recursive: true });
  return to;
};
const load = (from = folder) => importCatalog(world.database, { folder: from, dryRun: false });
const stored = async () => (await world.anonymous.get('/api/v1/catalog/applications/wiki')).body;

test('a folder with applications is signed and verified, and a refusal names the part', async () => {
  expect(await signFolder(folder, { key })).toEqual([
    'sign wiki',
    'sign wiki',
    '2 signed with the serial 1, 0 unchanged',
  ]);
  expect(Object.keys(signaturesIn().applications)).toEqual(['wiki']);
  expect(await signFolder(folder, { key })).toEqual(['0 signed, 2 unchanged']);
  expect((await verifyFolder(folder, { root: `${root}.pub` })).isAccepted).toBe(true);
  const changed = copy('changed');
  writeWiki(WIKI.replace('team/web', 'evil/web'), changed);
  const { lines, isAccepted } = await verifyFolder(changed, { root: `${root}.pub` });
  expect([isAccepted, lines[1]]).toEqual([
    false,
    expect.stringMatching(/^wiki: REFUSED: content_changed \(part web\)\. The application is not what/),
  ]);
  const pinned = await verifyFolder(folder, { root: `${root}.pub`, 'require-digest': true });
  expect(pinned.lines).toContainEqual(expect.stringContaining('image_not_pinned (part database, web)'));
});

test('the hub keeps and serves signatures of applications, and an export states them', async () => {
  await load();
  const { signatures, revision } = await stored();
  expect(signatures).toEqual(signaturesIn().applications.wiki);
  const exported = path.join(folders, 'exported');
  await exportCatalog(world.database, { folder: exported });
  expect(signaturesIn(exported)).toEqual(signaturesIn());
  expect((await load(exported)).at(-1)).toMatch(/^0 created, 0 updated/);
  await signFolder(folder, { key, all: true });
  await load();
  expect((await stored()).signatures).toEqual(signaturesIn().applications.wiki);
  expect((await stored()).signatures).not.toEqual(signatures);
  expect((await stored()).revision).toBe(revision);
  const { body } = await admin.get(`${ADMIN}?view=summary`);
  expect(body.applications).toMatchObject([{ slug: 'wiki', signatures: [], parts: [] }]);
});

test('the hub refuses files and requests that would break a signature', async () => {
  const unsigned = copy('unsigned');
  writeFileSync(path.join(unsigned, SIGNATURES), JSON.stringify({ serial: 0, templates: {} }));
  writeWiki(WIKI.replace('team/web', 'team/other'), unsigned);
  await expect(load(unsigned)).rejects.toThrow(
    'the application of the hub is signed, and its publisher has signed part web; sign the files again',
  );
  const stale = copy('stale');
  writeWiki(WIKI.replace('publish: true', 'publish: false'), stale);
  await expect(load(stale)).rejects.toThrow('wiki: must be about this content; it differs in part web');
  const { id, parts } = await stored();
  const changed = parts.map((part: { name: string }) => (part.name === 'web' ? { ...part, image_tag: '2' } : part));
  const broken = await admin.put(ADMIN, { id, parts: changed });
  expect([broken.status, broken.body.code, broken.body.errors]).toEqual([
    409,
    'breaks_signature',
    [{ path: 'parts', message: 'must not change, because the publisher has signed it' }],
  ]);
  expect(broken.body.detail).toContain('has signed part web');
  expect((await admin.put(ADMIN, { id, tags: ['text'] })).status).toBe(200);
});

test('new signatures must be about the application, and an empty list removes them', async () => {
  const signer = await aSigner();
  const own = await stored();
  const given = (signatures: readonly string[]) => admin.put(ADMIN, { id: own.id, signatures });
  const ofOther = await given([await signatureOfApplication({ ...own, name: 'Other' }, signer)]);
  expect([ofOther.status, ofOther.body.code]).toEqual([422, 'signature_invalid']);
  const ofTemplate = await given([await signatureOf({ ...own, image_name: 'team/web' }, signer)]);
  expect([ofTemplate.status, ofTemplate.body.errors[0].message]).toEqual([
    422,
    expect.stringContaining('must be a signature of this application'),
  ]);
  expect((await given([])).status).toBe(200);
  expect((await admin.put(ADMIN, { id: own.id, description: 'Changed' })).status).toBe(200);
  const signed = await given([await signatureOfApplication({ ...own, description: 'Changed' }, signer)]);
  expect([signed.status, signed.body.application.signatures.length]).toEqual([200, 1]);
});

test('an import and an export over HTTP carry signatures of applications', async () => {
  const { body } = await admin.get('/api/v1/publish/export');
  expect(Object.keys(body.application_signatures)).toEqual(['wiki']);
  const { body: plan } = await admin.post('/api/v1/publish/import?plan=true', body);
  expect(plan).toMatchObject({ changes: [], warnings: [] });
  const other = { ...body, application_signatures: { none: body.application_signatures.wiki } };
  const { body: warned } = await admin.post('/api/v1/publish/import?plan=true', other);
  expect(warned.warnings).toEqual(['signatures.json: warning: none: no file describes the application']);
});

test('a revocation withdraws the serials of applications, which are signed again', async () => {
  const other = path.join(folders, 'other.pem');
  await newKey(other, {});
  await writeKeyring(folder, { root, key: `${other}.pub` });
  const { kid } = await publicKeyOfPem(readFileSync(key));
  await revokeKey(folder, { root, kid });
  expect((await verifyFolder(folder, { root: `${root}.pub` })).isAccepted).toBe(false);
  expect((await signFolder(folder, { key: other })).at(-1)).toMatch(/^2 signed/);
  expect((await verifyFolder(folder, { root: `${root}.pub` })).isAccepted).toBe(true);
});
