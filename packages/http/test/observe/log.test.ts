import { afterEach, describe, expect, test } from '@jest/globals';
import { createLogTo, pathOf } from '../../src/index.ts';
import { membersWriter } from '../../src/observe/log.ts';
import { startService, stopServices } from '../world.ts';

afterEach(stopServices);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('the request id', () => {
  test.each(['r-1', 'A.b:c_d-9', '0190c5a0-0000-7000-8000-000000000000', 'x'.repeat(40)])(
    '%s of the caller is accepted',
    async (id) => {
      const { api, entry } = await startService();
      const { headers } = await api.get('/things/latest').set('X-Request-Id', id);
      expect(headers['x-request-id']).toBe(id);
      expect(await entry(({ path }) => path === '/things/latest')).toMatchObject({ request_id: id });
    },
  );

  test.each([
    ['that is too long', 'x'.repeat(41)],
    ['that is empty', ''],
    ['with a space', 'a b'],
    ['with a tab', 'a\tb'],
    ['with quotes', '"a"'],
    ['with characters other than ASCII', '\u00e9'],
    ['that is a secret token', `svcc_${'x'.repeat(49)}`],
    ['that is a JWT', `eyJhbGciOiJSUzI1NiJ9.${'x'.repeat(40)}.y`],
    ['sent twice', ['a', 'b']],
  ])('of the caller is replaced: %s', async (_, id) => {
    const { api, entries, entry } = await startService();
    // An array is sent as two headers.
    const { headers } = await api.get('/things/latest').set('X-Request-Id', id as string);
    expect(headers['x-request-id']).toMatch(UUID);
    await entry(({ path }) => path === '/things/latest');
    if (id.length > 2) expect(JSON.stringify(entries)).not.toContain(id);
  });

  test.each(['/things/latest', '/nothing', '/things?colour=red', '/healthz', '/metrics', '/docs'])(
    'is in the response to %s',
    async (path) => {
      const { api } = await startService();
      expect((await api.get(path)).headers['x-request-id']).toMatch(UUID);
    },
  );

  test('is different for each request', async () => {
    const { api } = await startService();
    const ids = await Promise.all([1, 2, 3].map(async () => (await api.get('/healthz')).headers['x-request-id']));
    expect(new Set(ids).size).toBe(3);
  });
});

test.each(['info', 'debug', 'warn', 'silent'] as const)(
  'lines of members in JSON are those of the log at the level %s',
  (level) => {
    const lines: string[] = [];
    const log = createLogTo({ write: (line) => void lines.push(line) }, { base: { service: 'hub' }, level });
    const members = { id: 'a"\u00e9\n', count: 3 };
    log.info(members, 'a "message"');
    membersWriter(log, 'a "message"')?.(`,${JSON.stringify(members).slice(1, -1)}`);
    const [own, ofMembers] = lines.map((line) => line.replace(/"time":"[^"]+"/, ''));
    expect(lines.length).toBe(level === 'info' || level === 'debug' ? 2 : 0);
    expect(ofMembers).toBe(own);
  },
);

describe('the log line of a request', () => {
  test('contains request, status and caller', async () => {
    const { api, entry } = await startService({
      enter: async (_req, res) => {
        res.locals.caller = 'key 1';
      },
    });
    await api.get('/things/latest').expect(200);
    expect(await entry(({ message }) => message === 'request')).toMatchObject({
      level: 30,
      method: 'GET',
      path: '/things/latest',
      status: 200,
      caller: 'key 1',
      duration_ms: expect.any(Number),
    });
  });

  test.each([
    ['/healthz', 20],
    ['/readyz?verbose=1', 20],
    ['/healthz/', 30],
    ['/metrics', 20],
  ])('of %s has the level %i', async (path, level) => {
    const { api, entry } = await startService();
    await api.get(path);
    expect(await entry(({ message }) => message === 'request')).toMatchObject({ level });
  });

  test('of a scrape without the token has the level info', async () => {
    const { api, entry } = await startService({ metricsToken: () => 'a-token-of-the-metrics' });
    await api.get('/metrics').expect(401);
    expect(await entry(({ message }) => message === 'request')).toMatchObject({ level: 30, status: 401 });
  });

  test('of a failed probe has the level error', async () => {
    const health = { check: () => Promise.reject(new Error('no connection')), stopping: false };
    const { api, entry } = await startService({ health });
    await api.get('/readyz').expect(500);
    expect(await entry(({ message }) => message === 'request')).toMatchObject({ level: 50 });
  });

  test('contains neither query, nor headers, nor body', async () => {
    const { api, entries, entry } = await startService();
    await api.post('/things?secret-query=1').set('Authorization', 'Bearer secret-header').send({ name: 'secret-body' });
    await entry(({ message }) => message === 'request');
    expect(JSON.stringify(entries)).not.toMatch(/secret-/);
  });
});

test.each([
  ['/things?token=abc', '/things'],
  [`/things/svcc_${'a1B2'.repeat(12)}`, '/things/[credential]'],
  [`/things/svcm_${'a1B2'.repeat(12)}/x`, '/things/[credential]/x'],
  ['/things/eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln-_x/y', '/things/[credential]/y'],
  [`/things/svcm_${'a1B2'.repeat(12)}eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln`, '/things/[credential][credential]'],
  ['/things/service', '/things/service'],
  ['/things/eyJ', '/things/eyJ'],
  ['', ''],
])('the path of %s is logged as %s', (url, expected) => {
  expect(pathOf(url)).toBe(expected);
});
