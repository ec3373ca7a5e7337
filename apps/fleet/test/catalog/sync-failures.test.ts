import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { aTemplate } from '../a-template.ts';
import { type Behaviour, refuse, startFakeHub } from '../fake-hub.ts';
import { startWorld } from '../world.ts';

const SYNC = '/api/v1/catalog/sync';

/** In every bad answer: it must not come through. */
const SLIP = 'a-slip-of-the-hub';

const hub = await startFakeHub();
const world = await startWorld({ hub });
afterEach(async () => {
  hub.recover();
  hub.withdrawAll();
  await world.asOperator.post(SYNC);
});
afterAll(async () => {
  await world.stop();
  await hub.stop();
});

const send =
  (status: number, type: string, body: string): Behaviour =>
  ({ res }) =>
    void res.writeHead(status, { 'Content-Type': type }).end(body);
const sendJson = (change: (good: Record<string, unknown>) => unknown): Behaviour => {
  const changed = (good: string) => JSON.stringify(change(JSON.parse(good)));
  return (exchange) => send(200, 'application/json', changed(exchange.good))(exchange);
};
const withTemplate = (given: object) =>
  sendJson((good) => ({ ...good, templates: [{ ...aTemplate(), name: SLIP, ...given }] }));

interface Failure {
  readonly what: string;
  readonly how: Behaviour | 'away';
  readonly reason: RegExp;
}

const failures: readonly Failure[] = [
  { what: 'refuses the key', how: refuse('invalid_token', SLIP), reason: /refused the API key \(401\)/ },
  { what: 'suspended the organization', how: refuse('organization_suspended', SLIP), reason: /suspended .*\(403\)/ },
  { what: 'refuses with 403', how: refuse('insufficient_scope', SLIP), reason: /403/ },
  { what: 'knows no such address', how: refuse('not_found', SLIP), reason: /404/ },
  { what: 'does not take `since`', how: refuse('validation_failed', SLIP), reason: /400/ },
  { what: 'is asked too often', how: refuse('rate_limited', SLIP), reason: /429/ },
  { what: 'fails', how: refuse('internal', SLIP), reason: /500/ },
  { what: 'is not available', how: refuse('unavailable', SLIP), reason: /503/ },
  { what: 'fails in HTML', how: send(502, 'text/html', `<p>${SLIP}`), reason: /502/ },
  { what: 'answers 204', how: ({ res }) => void res.writeHead(204).end(), reason: /204/ },
  { what: 'answers HTML', how: send(200, 'text/html', `<p>${SLIP}`), reason: /not a catalog/ },
  { what: 'answers garbage', how: send(200, 'application/json', `{"${SLIP}`), reason: /not a catalog/ },
  { what: 'answers nothing', how: send(200, 'application/json', ''), reason: /not a catalog/ },
  { what: 'answers other JSON', how: send(200, 'application/json', `["${SLIP}"]`), reason: /not a catalog/ },
  { what: 'leaves removed out', how: sendJson(({ removed: _, ...rest }) => rest), reason: /not a catalog/ },
  { what: 'leaves a member of a template out', how: withTemplate({ slug: undefined }), reason: /not a catalog/ },
  {
    what: 'sends a checked_at that is none',
    how: sendJson((g) => ({ ...g, checked_at: 'now' })),
    reason: /not a catalog/,
  },
  { what: 'sends an id that is none', how: withTemplate({ id: SLIP }), reason: /could not store/ },
  { what: 'sends a NUL', how: withTemplate({ description: '\0' }), reason: /could not store/ },
  {
    what: 'sends a day that does not exist',
    how: withTemplate({ updated_at: '2026-02-31T00:00:00.000Z' }),
    reason: /could not store/,
  },
  {
    what: 'breaks off in the middle',
    how: ({ res, good }) => {
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': good.length });
      res.write(good.slice(0, good.length / 2), () => res.destroy());
    },
    reason: /does not answer/,
  },
  {
    what: 'sends more than the fleet takes',
    how: send(200, 'application/json', SLIP.repeat(300_000)),
    reason: /does not answer/,
  },
  { what: 'closes the connection', how: ({ res }) => void res.destroy(), reason: /does not answer/ },
  { what: 'never answers', how: () => undefined, reason: /does not answer/ },
  { what: 'is not there', how: 'away', reason: /does not answer/ },
];

test.each(failures)('when the hub $what the mirror stays, the state says why, and it recovers', async (failure) => {
  const template = aTemplate({ name: 'Kept' });
  hub.publish(template);
  const before = (await world.asOperator.post(SYNC)).body;
  hub.publish({ ...template, name: 'Changed' });
  if (failure.how === 'away') await hub.goAway();
  else hub.behave(failure.how);

  const refused = await world.asOperator.post(SYNC);
  expect([refused.status, refused.body.code]).toEqual([502, 'hub_unreachable']);
  expect(refused.body.detail).toMatch(failure.reason);
  const state = (await world.asViewer.get(SYNC)).body;
  expect(state).toMatchObject({
    status: 'stale',
    checked_at: before.checked_at,
    last_success_at: before.last_success_at,
    last_failure: { reason: refused.body.detail },
    last_sync: before.last_sync,
    counts: before.counts,
  });
  expect(state.stale_since).toBe(state.last_failure.at);
  expect(`${refused.text}${JSON.stringify(state)}`).not.toMatch(new RegExp(`${SLIP}|${hub.key}`));
  expect(await mirrored()).toEqual(['Kept']);

  if (failure.how === 'away') await hub.comeBack();
  else hub.recover();
  expect((await world.asOperator.post(SYNC)).body).toMatchObject({
    status: 'fresh',
    checked_at: hub.checkedAt(),
    stale_since: null,
    last_failure: null,
    last_sync: { full: false, updated: 1 },
  });
  expect(await mirrored()).toEqual(['Changed']);
});

const mirrored = async (): Promise<string[]> =>
  (await world.asViewer.get('/api/v1/catalog/templates')).body.templates.map(({ name }: { name: string }) => name);

test('stale_since is the first failure of a row, last_failure the last', async () => {
  hub.behave(refuse('internal'));
  await world.asOperator.post(SYNC);
  const first = (await world.asViewer.get(SYNC)).body;
  hub.behave(refuse('unavailable'));
  await world.asOperator.post(SYNC);
  const second = (await world.asViewer.get(SYNC)).body;
  expect(second.stale_since).toBe(first.stale_since);
  expect(second.last_failure.reason).toMatch(/503/);
  expect(Date.parse(second.last_failure.at)).toBeGreaterThan(Date.parse(first.last_failure.at));
});

test('a first sync that fails leaves a state of stale without a success', async () => {
  const fresh = await startWorld({ hub });
  hub.behave(refuse('internal'));
  await fresh.asOperator.post(SYNC);
  const { body } = await fresh.asViewer.get(SYNC);
  await fresh.stop();
  expect(body).toMatchObject({ status: 'stale', last_success_at: null, age_seconds: null, last_sync: null });
});

test.each([301, 302, 303, 307, 308])(
  'a redirect (%d) is not followed, and takes no credential along',
  async (status) => {
    const visits: string[] = [];
    const stranger = createServer((req, res) => {
      visits.push(`${req.method} ${req.headers.authorization}`);
      res.end('{}');
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const { port } = stranger.address() as AddressInfo; // a server that listens on a port has one
    hub.behave(({ res }) => void res.writeHead(status, { Location: `http://127.0.0.1:${port}/` }).end());
    const refused = await world.asOperator.post(SYNC);
    stranger.close();
    expect([refused.status, refused.body.code]).toEqual([502, 'hub_unreachable']);
    expect(refused.body.detail).toContain(`redirect (${status})`);
    expect(refused.text).not.toContain(`${port}`);
    expect(visits).toEqual([]);
  },
);

test('a database that takes no changes is not the hub’s failure: 503, and the state stays', async () => {
  await world.asOperator.post(SYNC);
  hub.publish(aTemplate());
  const { client } = world.database;
  const refused = await client.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`LOCK TABLE catalog_templates IN SHARE MODE`;
      return world.asOperator.post(SYNC);
    },
    { timeout: 20_000 },
  );
  expect([refused.status, refused.body.code]).toEqual([503, 'unavailable']);
  expect((await world.asViewer.get(SYNC)).body).toMatchObject({ status: 'fresh', last_failure: null });
});
