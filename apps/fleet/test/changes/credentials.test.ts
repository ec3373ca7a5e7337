import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { scaled } from '@svc/testing';
import { SignJWT } from 'jose';
import { CONSOLE_URL, cookieIn, OF_CONSOLE, SESSION } from '../auth/console.ts';
import { startDeploymentWorld } from '../deployments/world.ts';
import { listenFor, type Watch } from './client.ts';
import { observeSubscriptions } from './subscriptions.ts';

const deploymentWorld = await startDeploymentWorld({ kept: true });
const { world } = deploymentWorld;
const sql = world.database.client;
/** A replica with the streams. Credentials are changed with another one. */
const replica = world.aReplica({ publicUrl: CONSOLE_URL });
const subscriptions = observeSubscriptions(replica.services.changes);
const fleet = await listenFor(replica.app);
afterAll(() => fleet.close());
await deploymentWorld.aHost();
const { id: deploymentId } = await deploymentWorld.deployed();

/** The replica with which the console signs in and out. */
const console = world.aReplica({ publicUrl: CONSOLE_URL });

type Headers = Readonly<Record<string, string>>;

interface Ending {
  /** The bearer token, or the headers of a browser. */
  readonly credential: string | Headers;
  end(): Promise<unknown>;
}

const aSession = async () => {
  const user = await world.aUser('operator');
  return { ...user, credential: (await user.signIn()).access_token };
};

/**
 * An operator who signed in to the console. The credential is what an EventSource of a page sends.
 */
const aBrowser = async () => {
  const { id, email, password } = await world.aUser('operator');
  const opened = await console.api().post(SESSION, { email, password }, OF_CONSOLE);
  const credential = { 'Sec-Fetch-Site': 'same-origin', Cookie: cookieIn(opened) };
  return { id, credential, headers: { ...OF_CONSOLE, ...credential } };
};

/** Each way in which a credential becomes invalid or its caller gets another role. */
const endings: Readonly<Record<string, () => Promise<Ending>>> = {
  'the revocation of its token': async () => {
    const { id, secret } = await world.aToken();
    return { credential: secret, end: () => world.asAdmin.delete(`/api/v1/tokens/${id}`) };
  },
  'the expiry of its token': async () => {
    const { id, secret } = await world.aToken();
    return { credential: secret, end: () => sql.token.update({ where: { id }, data: { expires_at: new Date() } }) };
  },
  'the sign-out of its session': async () => {
    const { credential } = await aSession();
    return { credential, end: () => world.api(`Bearer ${credential}`).post('/api/v1/auth/logout') };
  },
  'the sign-out of its browser': async () => {
    const { credential, headers } = await aBrowser();
    return { credential, end: () => console.api().delete(SESSION, undefined, headers) };
  },
  'the end of all sessions of the user of its browser': async () => {
    const { credential, headers } = await aBrowser();
    return { credential, end: () => console.api().delete('/api/v1/auth/sessions', undefined, headers) };
  },
  'the removal of the user of its browser': async () => {
    const { credential, id } = await aBrowser();
    return { credential, end: () => world.asAdmin.delete(`/api/v1/users/${id}`) };
  },
  'the revocation of the token that created its token': async () => {
    const parent = await world.aToken({ role: 'admin' });
    const { body } = await world.as(parent).post('/api/v1/tokens', { name: 'child', role: 'viewer' });
    return { credential: body.token.secret, end: () => world.asAdmin.delete(`/api/v1/tokens/${parent.id}`) };
  },
  'the block of the user who created its token': async () => {
    const maker = await world.aUser('admin');
    const { body } = await (await maker.api()).post('/api/v1/tokens', { name: 'of a maker', role: 'viewer' });
    const end = () => world.asAdmin.put(`/api/v1/users/${maker.id}`, { blocked: true });
    return { credential: body.token.secret, end };
  },
  'the block of its user': async () => {
    const { credential, id } = await aSession();
    return { credential, end: () => world.asAdmin.put(`/api/v1/users/${id}`, { blocked: true }) };
  },
  'the removal of its user': async () => {
    const { credential, id } = await aSession();
    return { credential, end: () => world.asAdmin.delete(`/api/v1/users/${id}`) };
  },
  'a change of the role of its user to one that may also read': async () => {
    const { credential, id } = await aSession();
    return { credential, end: () => world.asAdmin.put(`/api/v1/users/${id}`, { role: 'viewer' }) };
  },
  'the expiry of its access token': async () => {
    await world.signIn();
    const { id } = await sql.session.findFirstOrThrow({ orderBy: { created_at: 'desc' } });
    const credential = await new SignJWT()
      .setProtectedHeader({ alg: 'EdDSA', kid: world.signingKey.kid, typ: 'at+jwt' })
      .setIssuer('fleet')
      .setAudience('fleet')
      .setSubject(id)
      .setIssuedAt()
      .setExpirationTime(Math.ceil((Date.now() + scaled(1000)) / 1000)) // enough to open a stream and a wait
      .sign(world.signingKey.privateKey);
    return { credential, end: async () => undefined };
  },
};

/** A request that waits. Resolves when its connection is closed without a response. */
function waitWith(credential: string | Headers): Promise<string> {
  const path = `/api/v1/deployments/${deploymentId}?wait=running&timeout=60`;
  const headers = typeof credential === 'string' ? { Authorization: `Bearer ${credential}` } : credential;
  return new Promise((resolve) => {
    get({ port: fleet.port, host: '127.0.0.1', path, headers, agent: false }, ({ statusCode }) =>
      resolve(`answered ${statusCode}`),
    ).on('error', () => resolve('closed'));
  });
}

const open: Record<string, { watch: Watch; wait: Promise<string> }> = {};
let unaffected: { watch: Watch; wait: Promise<string> };

beforeAll(async () => {
  await world.aUser('admin'); // so that no changed user is the last admin
  const openWith = async (credential: string | Headers) => ({
    watch: await fleet.watch(credential),
    wait: waitWith(credential),
  });
  unaffected = await openWith((await world.aToken()).secret);
  const ends: Ending['end'][] = [];
  for (const [name, make] of Object.entries(endings)) {
    const { credential, end } = await make();
    open[name] = await openWith(credential);
    ends.push(end);
  }
  await subscriptions.reach(deploymentId, ends.length + 1);
  await Promise.all(ends.map((end) => end()));
});

/** Twice the promised time on a machine without other work. */
const within = <T>(work: Promise<T> | undefined) => Promise.race([work, pause(scaled(10_000), 'late', { ref: false })]);

test.each(Object.keys(endings))('a stream and a wait end within five seconds after %s', async (name) => {
  expect(await within(open[name]?.watch.ended())).toEqual({ complete: false });
  expect(await within(open[name]?.wait)).toBe('closed');
});

test('a stream and a wait whose credential is valid continue', async () => {
  expect(unaffected.watch.answer.destroyed).toBe(false);
  expect(await Promise.race([unaffected.wait, pause(0, 'waits')])).toBe('waits');
  unaffected.watch.end();
  await sql.deployment.update({ where: { id: deploymentId }, data: { phase: 'running', observed_generation: 1 } });
  expect(await unaffected.wait).toBe('answered 200');
});
