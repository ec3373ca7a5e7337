// Sources: which requests their commands send, and what they print.
import { aService, svc } from './svc.ts';

const service = await aService();
afterAll(() => service.stop());

const env = { SVC_URL: service.url, SVC_TOKEN: 'a-token' };
const source = (name: string) => ({
  id: name,
  name,
  state: 'ok',
  mode: 'manual',
  commit: { sha: '0123456789abcdef', title: `The commit of ${name}` },
  plan_state: 'applied',
  checked_at: '2026-11-28T10:00:00.000Z',
});

test('a list has the sources of all pages', async () => {
  const page = (number: number, name: string) => ({
    body: { sources: [source(name)], pagination: { page: number, limit: 100, total: 101, totalPages: 2 } },
  });
  service.answer({
    'GET /api/v1/auth/config': { body: { service: 'fleet' } },
    'GET /api/v1/sources?page=1': page(1, 'shop'),
    'GET /api/v1/sources?page=2': page(2, 'forum'),
  });
  const { code, stdout, stderr } = await svc(['source', 'list'], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/shop .*0123456789ab The commit of shop[\s\S]*forum/);
});

test('check --wait shows the source when the repository was read, and ends with 1 if it could not be', async () => {
  const states = [
    { ...source('shop'), checking: true },
    { ...source('shop'), checking: true },
    { ...source('shop'), checking: false, state: 'failing', failure: 'The repository has no branch main.' },
  ];
  service.answer({
    'GET /api/v1/auth/config': { body: { service: 'fleet' } },
    'GET /api/v1/sources?name=shop': { body: { sources: [source('shop')] } },
    'POST /api/v1/sources/shop/check': { body: { source: states[0] } },
    'GET /api/v1/sources/shop': () => ({ body: { source: states.shift() } }),
  });
  const { code, stdout } = await svc(['source', 'check', 'shop', '--wait'], { env });
  expect(stdout).toMatch(/state +failing[\s\S]*reason +The repository has no branch main\./);
  expect({ code, left: states.length }).toEqual({ code: 1, left: 0 });
});

test('add --wait prints the secret before it waits, and then what was read', async () => {
  const created = { ...source('shop'), checking: true, hook_secret: 'shown-once' };
  service.answer({
    'GET /api/v1/auth/config': { body: { service: 'fleet' } },
    'POST /api/v1/sources': { status: 201, body: { source: created } },
    'GET /api/v1/sources/shop': { body: { source: { ...source('shop'), checking: false } } },
  });
  const args = ['source', 'add', 'shop', 'https://git.example.com/shop.git', '--wait', '--yes', '-o', 'json'];
  const { code, stdout, stderr } = await svc(args, { env });
  expect({ code, printed: JSON.parse(stdout) }).toEqual({ code: 0, printed: created });
  expect(stderr).toContain('shop: ok 0123456789ab The commit of shop');
});
