// Files: what is planned, shown and applied, and the exit codes.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { aService, svc } from './svc.ts';

const service = await aService();
const folder = mkdtempSync(path.join(tmpdir(), 'svc-plans-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

const env = { SVC_URL: service.url, SVC_TOKEN: 'a-token' };
const at = (...parts: string[]) => path.join(folder, ...parts);

beforeAll(() => {
  mkdirSync(at('deploy', 'shop'), { recursive: true });
  mkdirSync(at('deploy', '.git'));
  mkdirSync(at('empty'));
  writeFileSync(at('deploy', 'a.yaml'), 'kind: deployment\n');
  writeFileSync(at('deploy', 'shop', 'b.yml'), 'kind: b\n');
  writeFileSync(at('deploy', 'c.json'), '{}');
  for (const other of ['notes.md', '.hidden.yaml', '.git/config.yaml']) writeFileSync(at('deploy', other), 'x');
});

const change = {
  kind: 'deployment',
  name: 'web',
  id: null,
  action: 'change',
  file: 'a.yaml',
  line: 3,
  cause: 'file',
  values: [{ path: 'image', from: 'web:1', to: 'web:2\u001b[31m' }],
  target: { kind: 'host', id: 'h', name: 'gpu-1', reasons: [] },
  replaces_instances: true,
  outage: { expected: true, reason: 'The only instance ends first.' },
};
const summary = { create: 0, change: 1, delete: 0, release: 0, unchanged: 4, interrupted: 1, left_out: 1 };
const plan = {
  id: 'p-1',
  digest: 'the-digest',
  state: 'ready',
  summary,
  changes: [change],
  refusals: [],
  losses: [{ deployment: 'old', volume: 'old-data', size: '10Gi' }],
  left_out: [{ kind: 'deployment', name: 'orphan' }],
};
const unchanged = {
  ...plan,
  state: 'unchanged',
  changes: [],
  losses: [],
  left_out: [],
  summary: { ...summary, change: 0, left_out: 0 },
};
const refusal = {
  kind: 'deployment',
  name: 'web',
  file: 'a.yaml',
  line: 5,
  code: 'no_placement',
  path: 'target',
  message: 'does not fit',
};
const refused = { ...plan, state: 'refused', refusals: [refusal] };
const applied = {
  body: { plan: { ...plan, state: 'applied' }, generated: [{ deployment: 'web', name: 'KEY', value: 'shown-once' }] },
};

const planned = (answer: object) => ({
  'POST /api/v1/plans/p-1/apply': applied,
  'POST /api/v1/plans': { status: 201, body: { plan: answer } },
  'GET /api/v1/plans/p-1': { body: { plan: answer } },
});

test('apply plans all files of a folder, and applies that plan', async () => {
  service.answer(planned(plan));
  const { code, stdout } = await svc(['apply', '-f', at('deploy'), '--set', 'shop', '--prune', '-y'], { env });
  expect({ code, requests: service.requests() }).toEqual({
    code: 0,
    requests: ['POST /api/v1/plans', 'POST /api/v1/plans/p-1/apply'],
  });
  const [created, made] = service.received.map(({ body }) => body);
  const files = ['a.yaml', 'c.json', path.join('shop', 'b.yml')].map((name) => at('deploy', name));
  expect(created).toMatchObject({
    set: 'shop',
    prune: true,
    files: files.map((each) => expect.objectContaining({ path: each })),
  });
  expect(made).toEqual({ digest: 'the-digest' });
  expect(stdout).toContain('shown-once');
});

test('apply with --dry-run, diff and plan create show what would change, end with 3, and change nothing', async () => {
  service.answer(planned(plan));
  for (const args of [['apply', '--dry-run'], ['diff'], ['plan', 'create']]) {
    const { code, stdout } = await svc([...args, '-f', at('deploy')], { env });
    expect({ args, code }).toEqual({ args, code: 3 });
    expect(stdout).toContain('web:2\\u001b[31m');
  }
  const { stderr } = await svc(['plan', 'show', 'p-1'], { env });
  for (const text of [
    'old-data of old is deleted',
    'No file describes orphan',
    'Plan p-1: ready, 0 to create, 1 to change',
  ])
    expect(stderr).toContain(text);
  expect(service.requests().every((request) => !request.endsWith('/apply'))).toBe(true);
});

test('without changes, nothing is asked, diff ends with 0, and apply records that the files manage the objects', async () => {
  service.answer(planned(unchanged));
  expect((await svc(['diff', '-f', at('deploy', 'a.yaml')], { env })).code).toBe(0);
  expect((await svc(['apply', '-f', '-', '-y'], { env, stdin: 'kind: deployment\n' })).code).toBe(0);
  expect(service.requests().at(-1)).toBe('POST /api/v1/plans/p-1/apply');
});

test('a refused plan ends with 1, and states file and line of each reason', async () => {
  service.answer(planned(refused));
  for (const args of [['apply', '-y'], ['diff'], ['plan', 'create']]) {
    const { code, stderr } = await svc([...args, '-f', at('deploy')], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('a.yaml:5: deployment web: target does not fit\n'),
    });
  }
  expect((await svc(['plan', 'apply', 'p-1', '-y'], { env })).code).toBe(1);
  expect(service.requests().every((request) => !request.endsWith('/apply'))).toBe(true);
});

test('a stored plan is applied with its digest', async () => {
  service.answer(planned(plan));
  expect((await svc(['plan', 'apply', 'p-1', '-y'], { env })).code).toBe(0);
  expect(service.received.at(-1)?.body).toEqual({ digest: 'the-digest' });
});

test('an export is printed as it is, or written to a new file only', async () => {
  const text = 'kind: deployment\nname: web\n';
  service.answer({
    'GET /api/v1/export?set=shop': {
      body: { text, left_out: [{ kind: 'deployment', name: 'old', reason: 'It has.' }] },
    },
  });
  const { code, stdout, stderr } = await svc(['export', '--set', 'shop'], { env });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: text, stderr: 'deployment old is left out: It has.\n' });
  const file = at('exported.yaml');
  expect((await svc(['export', '--set', 'shop', '-f', file], { env })).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(await svc(['export', '--set', 'shop', '-f', file], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('exists already'),
  });
});

test.each([
  ['no file', /--file/, ['apply', '-y']],
  ['a place that does not exist', /neither a file nor a folder/, ['diff', '-f', at('absent')]],
  ['a folder without files', /no files that end with/, ['diff', '-f', at('empty')]],
  ['a change without --yes', /needs --yes/, ['apply', '-f', at('deploy')]],
])('%s is wrong usage', async (_, message, args) => {
  service.answer({});
  const { code, stderr } = await svc(args, { env });
  expect({ code, requests: service.requests() }).toEqual({ code: 2, requests: [] });
  expect(stderr).toMatch(message);
});

test('list prints the stored plans with their states, and how many there are', async () => {
  service.answer({
    'GET /api/v1/auth/config': { body: { service: 'fleet' } },
    'GET /api/v1/plans?limit=1&state=ready%2Cneeds_approval&set=shop': {
      body: {
        plans: [{ ...plan, set: 'shop', title: 'merge request 12', created_at: '2026-11-28T10:00:00.000Z' }],
        pagination: { page: 1, limit: 1, total: 3, totalPages: 3 },
      },
    },
  });
  const args = ['plan', 'list', '--state', 'ready,needs_approval', '--set', 'shop', '--limit', '1'];
  const { code, stdout, stderr } = await svc(args, { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '1 of 3 plans.\n' });
  expect(stdout).toMatch(/p-1 +ready +shop +merge request 12 +0 +1 +0 +2026-11-28/);
});
