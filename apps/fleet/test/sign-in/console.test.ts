// Sign-ins of the console that fail end on its page.
import type { Answered } from '@svc/testing';
import { CONSOLE_URL, OF_CONSOLE, SESSION } from '../auth/console.ts';
import { startBendableIssuer } from '../oidc/bendable-issuer.ts';
import {
  aBrowser,
  CALLBACK,
  codeIn,
  consoleCodeIn,
  consoleLogin,
  EXCHANGE,
  FINISH,
  LOGIN,
  type Replica,
  VERIFIER,
} from './browser.ts';
import { startSignInWorld } from './world.ts';

const world = await startSignInWorld({ publicUrl: CONSOLE_URL });
const { issuer, replicas, backFrom, says } = world;
const sql = world.database.client;

const HTML = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const aPage = (at: readonly Replica[] = replicas) => aBrowser(at, HTML);
/** A sign-in of the console up to the redirect of the provider. */
async function begin(browser = aPage(), returnTo = '/') {
  const { headers } = await browser.get(consoleLogin(returnTo));
  return { browser, address: new URL(headers.location ?? '') };
}

beforeEach(() => says({ role: 'operator' }));

/** Asserts that the response leads to the page for signing in, and contains nothing else. */
function leadsToPage({ status, headers, text }: Answered, error: string, returnTo?: string) {
  const query = new URLSearchParams({ sign_in_error: error, request_id: headers['x-request-id'] ?? '' });
  if (returnTo !== undefined) query.set('return_to', returnTo);
  expect({ status, location: headers.location, text }).toEqual({ status: 302, location: `/?${query}`, text: '' });
  expect(headers['cache-control']).toBe('no-store');
}

test('a sign-in that succeeds returns to its page with a session', async () => {
  const { browser, address } = await begin(aPage(), '/hosts?search=a');
  const back = await browser.openCallback(backFrom(address));
  const location = `${CONSOLE_URL}/hosts?search=a#sign_in_code=${consoleCodeIn(back)}`;
  expect(back).toMatchObject({ status: 302, headers: { location } });
  expect([...browser.cookies.keys()]).toEqual([]);
  const finished = await browser.finish(back);
  expect(finished).toMatchObject({ status: 200, body: { user: { kind: 'oidc', role: 'operator' } } });
  expect([...browser.cookies.keys()]).toEqual([expect.stringMatching(/^__Host-fleet-session-/)]);
  expect((await browser.finish(back)).body.code).toBe('invalid_grant');
});

test.each([
  ['access_denied', 'refused'],
  ['server_error', 'unavailable'],
  ['<script>alert(1)</script>', 'refused'],
  ['https://evil.example.test', 'refused'],
])('the error %s of the provider leads to the page, without a text of the provider', async (error, shown) => {
  const { browser, address } = await begin(aPage(), '/deployments');
  const told = { code: undefined, error, error_description: 'words of a stranger', error_uri: 'https://evil.example' };
  leadsToPage(await browser.openCallback(backFrom(address, told)), shown, '/deployments');
});

test('a sign-in that expired, was completed, is unknown, or began in another browser leads to the page', async () => {
  const late = await begin();
  await sql.$executeRaw`UPDATE sign_in_transactions SET expires_at = now()`;
  leadsToPage(await late.browser.openCallback(backFrom(late.address)), 'expired');
  const { browser, address } = await begin();
  const query = backFrom(address);
  leadsToPage(await aPage().openCallback(query), 'expired');
  leadsToPage(await browser.openCallback({ ...query, state: 'console.unknown' }), 'expired');
  expect((await browser.openCallback(query)).status).toBe(302);
  leadsToPage(await browser.openCallback(query), 'expired');
});

test('a user without a role is told so, and the audit log has the sign-in with its true result', async () => {
  says({ role: 'guest', sub: 'a guest', email: 'guest@example.test' });
  const { browser, address } = await begin(aPage(), '/hosts');
  leadsToPage(await browser.openCallback(backFrom(address)), 'no_role', '/hosts');
  expect(browser.cookies.size).toBe(1); // that of the sign-in
  const entry = await sql.auditEntry.findFirstOrThrow({ where: { path: CALLBACK }, orderBy: { at: 'desc' } });
  expect(entry).toMatchObject({ actor: 'guest@example.test', status: 403, source: '127.0.0.1' });
});

test('an invalid ID token, and a provider that does not respond, lead to the page', async () => {
  const wrong = await begin();
  issuer.bend('/token', async () => issuer.tokens({ id_token: await issuer.idToken({ aud: 'another' }) }));
  leadsToPage(await wrong.browser.openCallback(backFrom(wrong.address)), 'refused');
  const failing = await begin();
  issuer.bend('/token', () => ({ status: 500 }));
  leadsToPage(await failing.browser.openCallback(backFrom(failing.address)), 'unavailable');
});

test('a sign-in that cannot begin leads to the page', async () => {
  const unknown = { oidc: { issuer: undefined, client_id: undefined, client_secret: undefined } };
  leadsToPage(await aPage([world.aReplica(unknown)]).get(consoleLogin('/')), 'not_configured');
  leadsToPage(await aPage([world.aReplica({ publicUrl: undefined })]).get(consoleLogin('/')), 'not_configured');
  const stopped = await startBendableIssuer();
  await stopped.stop();
  const unreachable = world.aReplica({ oidc: { issuer: stopped.url, client_id: 'fleet', client_secret: 's' } });
  leadsToPage(await aPage([unreachable]).get(consoleLogin('/hosts')), 'unavailable', '/hosts');
});

test('while the audit log cannot be written, a sign-in leads to the page, and can be completed later', async () => {
  const { browser, address } = await begin();
  const query = backFrom(address);
  await sql.$executeRaw`ALTER TABLE audit_entries ADD CONSTRAINT refused CHECK (false) NOT VALID`;
  try {
    leadsToPage(await browser.openCallback(query), 'unavailable');
  } finally {
    await sql.$executeRaw`ALTER TABLE audit_entries DROP CONSTRAINT refused`;
  }
  expect((await browser.openCallback(query)).headers.location).toContain(`${CONSOLE_URL}/#sign_in_code=`);
});

test.each(['//evil.example.test', '/\\evil.example.test', 'https://evil.example.test'])(
  'return_to=%s is a 400 also for the console',
  async (returnTo) => {
    const { status, headers } = await aPage().get(consoleLogin(returnTo));
    expect({ status, location: headers.location }).toEqual({ status: 400, location: undefined });
  },
);

test('other clients receive a problem document', async () => {
  const program = await begin(aBrowser(replicas));
  const denied = { code: undefined, error: 'access_denied' };
  const answer = await program.browser.openCallback(backFrom(program.address, denied));
  expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
  const frontend = aPage();
  const ofFrontend = await frontend.openCallback(backFrom(await frontend.begin(), denied));
  expect(ofFrontend).toMatchObject({ status: 401, body: { code: 'invalid_grant' } });
  expect((await aPage().get(`${CALLBACK}?error=access_denied`)).status).toBe(401);
});

test('a callback with a planted session neither keeps nor uses it', async () => {
  const { browser, address } = await begin();
  const name = '__Host-fleet-session-00000000';
  browser.cookies.set(name, { value: 'planted', path: '/' });
  const before = await sql.session.count();
  await browser.finish(await browser.openCallback(backFrom(address)));
  const session = [...browser.cookies].find(([key, { value }]) => key.includes('session') && value !== 'planted');
  expect(session?.[1].value).toMatch(/^[\w-]{43}$/);
  expect(await sql.session.count()).toBe(before + 1);
  const planted = { 'Sec-Fetch-Site': 'same-origin', Cookie: `${session?.[0]}=planted` };
  expect((await world.nobody.get(SESSION, planted)).body.user).toBeNull();
});

describe('a sign-in that another page began', () => {
  test('gives no session to a browser in which its cookie was planted, with any verifier of this browser', async () => {
    const attacker = await begin();
    const victim = aPage();
    for (const [name, cookie] of attacker.browser.cookies) victim.cookies.set(name, cookie); // from another port
    const back = await victim.openCallback(backFrom(attacker.address));
    expect(back.status).toBe(302);
    expect([...victim.cookies.keys()]).toEqual([]);
    expect((await victim.finish(back, 'w'.repeat(43))).body.code).toBe('invalid_grant');
    const code = consoleCodeIn(back);
    expect((await world.nobody.post(EXCHANGE, { code })).body.code).toBe('invalid_grant');
    expect((await world.nobody.post(FINISH, { code }, OF_CONSOLE)).status).toBe(400);
    expect([...victim.cookies.keys()]).toEqual([]);
  });

  test('cannot begin without a challenge: the page states it, and offers to begin again', async () => {
    const path = `${LOGIN}?${new URLSearchParams({ session: 'cookie', return_to: '/hosts' })}`;
    leadsToPage(await aPage().get(path), 'not_begun_here', '/hosts');
    const { status, body } = await world.nobody.get(path);
    expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: 'challenge' });
  });

  test('that version 0.2.0 began without a challenge is not completed', async () => {
    const { browser, address } = await begin();
    const [row] = await sql.signInTransaction.findMany({ orderBy: { expires_at: 'desc' }, take: 1 });
    if (!row) throw new Error('no sign-in was begun');
    const location = { table: 'sign_in_transactions', column: 'sealed', row: row.state_hash };
    const { challenge, ...older } = JSON.parse(await world.sealer.open(location, row.sealed));
    expect(challenge).toMatch(/^[\w-]{43}$/);
    const sealed = await world.sealer.seal(location, JSON.stringify(older));
    await sql.signInTransaction.update({ where: { state_hash: row.state_hash }, data: { sealed } });
    leadsToPage(await browser.openCallback(backFrom(address)), 'expired');
  });

  test('is completed only by a page of the console', async () => {
    const { browser, address } = await begin();
    const code = consoleCodeIn(await browser.openCallback(backFrom(address)));
    for (const sent of [
      {},
      { ...OF_CONSOLE, 'Sec-Fetch-Site': 'same-site' },
      { ...OF_CONSOLE, Origin: 'http://x.test' },
    ])
      expect((await world.nobody.post(FINISH, { code, verifier: VERIFIER }, sent)).body.code).toBe('wrong_origin');
  });
});

test('a frontend that begins with a challenge needs its verifier for the tokens, and one without needs none', async () => {
  const challenged = consoleLogin('/app').replace('session=cookie', 'session=code');
  const from = async (path: string) => {
    const browser = aBrowser(replicas);
    const { headers } = await browser.get(path);
    const back = await browser.openCallback(backFrom(new URL(headers.location ?? '')));
    return { browser, back };
  };
  const stolen = await from(challenged);
  expect((await world.nobody.post(EXCHANGE, { code: codeIn(stolen.back) })).body.code).toBe('invalid_grant');
  const own = await from(challenged);
  expect((await own.browser.exchange(own.back, { verifier: VERIFIER })).status).toBe(200);
  const plain = await from(LOGIN);
  expect((await plain.browser.exchange(plain.back, { verifier: VERIFIER })).body.code).toBe('invalid_grant');
  expect((await plain.browser.exchange(plain.back)).status).toBe(200);
});
