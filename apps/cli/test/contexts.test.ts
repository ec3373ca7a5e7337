// Sign-in, contexts, and the file in which they are.
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readContexts, writeContexts } from '../src/contexts.ts';
import { aService, home, svc } from './svc.ts';

const fleet = await aService();
const hub = await aService();
afterAll(() => Promise.all([fleet.stop(), hub.stop()]));

const FILE = path.join(home, 'svc', 'config.json');
const me = { body: { user: { name: 'ci' }, may: [] } };
const ofFleet = {
  'GET /api/v1/auth/config': { body: { local: true, browser_session_refusal: null } },
  'GET /api/v1/auth/me': me,
};
const ofHub = {
  'GET /api/v1/auth/config': { body: { audience: 'x', browser_session_refusal: null } },
  'GET /api/v1/auth/session': { body: { user: null, may: [] } },
};
const stored = () => {
  const before = process.env.XDG_CONFIG_HOME;
  process.env.XDG_CONFIG_HOME = home;
  const contexts = readContexts();
  process.env.XDG_CONFIG_HOME = before;
  return contexts;
};

test('a token comes from stdin, is checked, and is stored where only the user can read it', async () => {
  fleet.answer(ofFleet);
  hub.answer(ofHub);
  expect((await svc(['login', fleet.url, '--token', '-'], { stdin: 'svcm_first\n' })).code).toBe(0);
  expect((await svc(['login', `${hub.url}/`, '--token', '-'], { stdin: 'svcc_second' })).code).toBe(0);
  expect(fleet.received.at(-1)).toMatchObject({ request: 'GET /api/v1/auth/me', token: 'svcm_first' });
  expect(stored()).toEqual({
    current: 'hub',
    contexts: {
      fleet: { url: fleet.url, service: 'fleet', credential: { kind: 'token', token: 'svcm_first' } },
      hub: { url: hub.url, service: 'hub', credential: { kind: 'token', token: 'svcc_second' } },
    },
  });
  expect(statSync(FILE).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(FILE)).mode & 0o777).toBe(0o700);
});

test('a token that the service refuses is not stored', async () => {
  fleet.answer({ ...ofFleet, 'GET /api/v1/auth/me': { status: 401, body: { detail: 'No.', code: 'invalid_token' } } });
  const before = stored();
  expect((await svc(['login', fleet.url, '--name', 'wrong', '--token', '-'], { stdin: 'svcm_bad' })).code).toBe(1);
  expect((await svc(['login', fleet.url, '--name', 'wrong', '--token', '-'])).code).toBe(2);
  expect(stored()).toEqual(before);
});

test('a command uses the current context, or the only one of the service that it needs, or the stated one', async () => {
  const list = { 'GET /api/v1/deployments': { body: { deployments: [], pagination: { totalPages: 1 } } } };
  fleet.answer(list);
  await svc(['context', 'use', 'hub']);
  expect((await svc(['deployments'])).code).toBe(0); // the hub is current, and has no deployments
  expect((await svc(['deployments', '--at', 'fleet'])).code).toBe(0);
  expect(await svc(['deployments', '--at', 'hub'])).toMatchObject({
    code: 2,
    stderr: 'The context hub is no fleet.\n',
  });
  expect(fleet.received.map(({ token }) => token)).toEqual(['svcm_first', 'svcm_first']);
  await svc(['deployments'], { env: { SVC_TOKEN: 'svcm_of-the-environment' } });
  expect(fleet.received.at(-1)?.token).toBe('svcm_of-the-environment');
  const { stdout } = await svc(['context', 'list']);
  expect(stdout).toMatch(/^ +fleet +fleet +http.* +token\n\* +hub/m);
  expect(stdout).not.toContain('svcm_');
});

test('the token of a session is exchanged before it expires, and the next command uses the new one', async () => {
  const list = { 'GET /api/v1/deployments': { body: { deployments: [], pagination: { totalPages: 1 } } } };
  const next = { access_token: 'second', refresh_token: 'refresh-2', expires_in: 600 };
  fleet.answer({ ...list, 'POST /api/v1/auth/refresh': { body: next } });
  const credential = { kind: 'session', token: 'first', refresh: 'refresh-1', until: Date.now() + 1000 } as const;
  process.env.XDG_CONFIG_HOME = home;
  writeContexts({ current: 'fleet', contexts: { fleet: { url: fleet.url, service: 'fleet', credential } } });
  delete process.env.XDG_CONFIG_HOME;
  await svc(['deployments']);
  await svc(['deployments']);
  expect(fleet.received.map(({ request, token }) => [request.split('?')[0], token])).toEqual([
    ['POST /api/v1/auth/refresh', undefined],
    ['GET /api/v1/deployments', 'second'],
    ['GET /api/v1/deployments', 'second'],
  ]);
});

test('a sign-out ends the session and forgets the context, also if the session has ended', async () => {
  fleet.answer({ 'POST /api/v1/auth/logout': { status: 401, body: { detail: 'It has ended.' } } });
  expect((await svc(['logout'])).code).toBe(0);
  expect(fleet.requests()).toEqual(['POST /api/v1/auth/logout']);
  expect(stored()).toEqual({ current: null, contexts: {} });
});

test('the browser brings the code to the port that waits, and only with the state that the client chose', async () => {
  const session = { access_token: 'of the browser', refresh_token: 'r', expires_in: 600 };
  fleet.answer({ ...ofFleet, 'POST /api/v1/auth/exchange': { body: session } });
  const visits: (number | string)[] = [];
  let isVisited = false;
  const visit = async (text: string) => {
    const address = /^http\S+\/console\/connect\S+$/m.exec(text)?.[0];
    if (address === undefined || isVisited) return;
    isVisited = true;
    const { searchParams } = new URL(address);
    expect(searchParams.get('challenge')).toMatch(/^[\w-]{43}$/);
    const back = (query: Record<string, string>) =>
      fetch(`http://127.0.0.1:${searchParams.get('port')}/?${new URLSearchParams(query)}`);
    visits.push((await back({ code: 'planted', state: 'x'.repeat(43) })).status);
    visits.push((await back({ code: 'the-code', state: searchParams.get('state') ?? '' })).status);
  };
  const ran = await svc(['login', fleet.url, '--no-browser'], { onStderr: (text) => void visit(text) });
  expect({ code: ran.code, visits }).toEqual({ code: 0, visits: [404, 200] });
  expect(fleet.received.at(-1)?.body).toEqual({ code: 'the-code', verifier: expect.stringMatching(/^[\w-]{43}$/) });
  expect(stored().contexts.fleet?.credential).toMatchObject({ kind: 'session', token: 'of the browser', refresh: 'r' });
});

test('a person who declines in the browser ends the sign-in', async () => {
  fleet.answer(ofFleet);
  const decline = (text: string) => {
    const address = /^http\S+\/console\/connect\S+$/m.exec(text)?.[0];
    if (address === undefined) return;
    const { searchParams } = new URL(address);
    const query = new URLSearchParams({ error: 'access_denied', state: searchParams.get('state') ?? '' });
    void fetch(`http://127.0.0.1:${searchParams.get('port')}/?${query}`).catch(() => undefined);
  };
  const ran = await svc(['login', fleet.url, '--no-browser'], { onStderr: decline });
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('declined in the browser') });
});

test('a damaged file is not overwritten', async () => {
  writeFileSync(FILE, '{"current": 1}');
  expect(await svc(['context', 'list'])).toMatchObject({ code: 1, stderr: expect.stringContaining('is damaged') });
});
