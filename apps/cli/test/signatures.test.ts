// Signatures of templates in a folder of catalog files.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { aService, svc } from './svc.ts';

const service = await aService();
const folders = mkdtempSync(path.join(tmpdir(), 'signatures-'));
afterAll(async () => {
  rmSync(folders, { recursive: true });
  await service.stop();
});

const env = { SVC_URL: service.url, SVC_TOKEN: 'a-token' };
const signature = (serial: number) => `e30.${Buffer.from(JSON.stringify({ serial })).toString('base64url')}.AA`;
const files = [{ path: 'categories.yaml', content: '[]\n' }];

function aFolder(signatures?: string): string {
  const folder = mkdtempSync(path.join(folders, 'catalog-'));
  writeFileSync(path.join(folder, 'categories.yaml'), '[]\n');
  if (signatures !== undefined) writeFileSync(path.join(folder, 'signatures.json'), signatures);
  return folder;
}

const imported = { applied: false, changes: [], created: 0, updated: 0, deleted: 0, unchanged: 0, warnings: [] };

async function sent(folder: string): Promise<unknown> {
  service.answer({ 'POST /api/v1/publish/import': { body: imported } });
  await svc(['hub', 'import', folder, '--dry-run'], { env });
  return service.received[0]?.body;
}

test('an import sends the signatures of the folder, and none for a folder without them', async () => {
  const templates = { one: [signature(2)] };
  expect(await sent(aFolder(JSON.stringify({ serial: 2, templates })))).toEqual({ files, signatures: templates });
  expect(await sent(aFolder())).toEqual({ files });
});

test.each(['x', '[]', '{ "serial": 1 }', '{ "serial": "1", "templates": {} }'])(
  'an import refuses a file of signatures with %s, and sends nothing',
  async (text) => {
    service.answer({});
    const { code, stderr } = await svc(['hub', 'import', aFolder(text), '--dry-run'], { env });
    expect([code, service.received]).toEqual([2, []]);
    expect(stderr).toContain('signatures.json is not a file of the command sign');
  },
);

async function exported(folder: string, signatures?: object, ...options: readonly string[]) {
  service.answer({ 'GET /api/v1/publish/export': { body: { files, ...(signatures && { signatures }) } } });
  const { stdout } = await svc(['hub', 'export', folder, ...options], { env });
  const file = path.join(folder, 'signatures.json');
  return { stdout, file: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined };
}

test('an export writes the signatures with the highest serial, and only if they differ', async () => {
  const folder = aFolder();
  const templates = { one: [signature(3)], two: [signature(5), signature(4)] };
  expect(await exported(folder, templates)).toMatchObject({
    stdout: expect.stringContaining('1 of 2 files written'),
    file: { serial: 5, templates },
  });
  expect((await exported(folder, templates)).stdout).toContain('0 of 2 files written');
});

test('an export keeps signatures of templates that the hub does not have, except with --prune', async () => {
  const before = JSON.stringify({ serial: 9, templates: { other: [signature(9)] } });
  const templates = { one: [signature(3)] };
  expect((await exported(aFolder(before), templates)).file).toEqual({
    serial: 9,
    templates: { one: [signature(3)], other: [signature(9)] },
  });
  expect((await exported(aFolder(before), templates, '--prune', '--yes')).file).toEqual({ serial: 9, templates });
});

test('an export of an earlier version of the hub, which has no signatures, writes none', async () => {
  expect((await exported(aFolder())).file).toBeUndefined();
});
