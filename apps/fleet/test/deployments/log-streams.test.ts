import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createPlaces } from '@svc/http';
import { eventually, scaled } from '@svc/testing';
import { SignJWT } from 'jose';
import type { Database } from '../../src/database/client.ts';
import { createStreamCredentials, type OpenStream } from '../../src/identity/sessions/stream-credentials.ts';
import { anEngine, endAll, serve } from '../engines/servers.ts';
import { SHORT_TIMINGS } from '../timings.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
const sql = world.database.client;

/** A replica that streams logs. Credentials are changed with another replica. */
const replica = world.aReplica();
const server = createServer(replica.app).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo; // the server listens
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.stop();
  await endAll();
});

/** How long the engine waits before it describes the container. */
let inspectionMs = 0;

/** A deployment on an engine whose container writes one line and continues to run. */
async function aDeployment(): Promise<string> {
  let id = '';
  const engine = anEngine((req, res) => {
    const Labels = {
      'app.kubernetes.io/managed-by': 'fleet',
      'fleet/deployment': id,
      'fleet/ordinal': '0',
      'fleet/generation': '1',
      'fleet/body': 'x',
    };
    const State = { Status: 'running', Running: true, ExitCode: 0, StartedAt: new Date(), FinishedAt: new Date(0) };
    const HostConfig = { RestartPolicy: { Name: 'no' }, DeviceRequests: null, Devices: null };
    if (req.url?.includes('/containers/json')) {
      return res.end(JSON.stringify([{ Id: 'c', Names: ['/d-0'], Labels, State: 'running' }]));
    }
    if (req.url?.endsWith('/c/json')) {
      const details = { Id: 'c', Name: '/d-0', State, Config: { Labels }, HostConfig };
      return setTimeout(() => res.end(JSON.stringify(details)), inspectionMs);
    }
    // A check of the host must not wait.
    if (!req.url?.includes('/logs')) return res.writeHead(404).end('{}');
    return res.write(Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, 5]), Buffer.from('line\n')]));
  });
  const { body: host } = await world.asAdmin.post('/api/v1/hosts', {
    name: 'host',
    engine: 'docker',
    endpoint: await serve(engine),
  });
  const target = { host_id: host.host.id };
  await sql.host.update({
    where: { id: target.host_id },
    data: { reachability: 'online', cpu_millis: 1000, memory_bytes: 2 ** 32 },
  });
  const { body: workload } = await world.asAdmin.post('/api/v1/workloads', { name: 'app', image_name: 'team/app' });
  const deployed = await world.asAdmin.post('/api/v1/deployments', {
    name: 'app',
    workload_id: workload.workload.id,
    target,
  });
  ({ id } = deployed.body.deployment);
  await sql.deployment.update({
    where: { id },
    data: { instances: [{ name: 'd-0', phase: 'running', message: '', restarts: 0 }] },
  });
  return id;
}
const deploymentId = await aDeployment();

/** Follows the log, and waits for its first line. */
async function follow(credential: string): Promise<IncomingMessage> {
  const path = `/api/v1/deployments/${deploymentId}/logs?follow=true`;
  const asked = get({ port, host: '127.0.0.1', path, headers: { Authorization: `Bearer ${credential}` } });
  const [answer]: IncomingMessage[] = await once(asked, 'response');
  if (!answer) throw new Error('no response');
  expect(answer.statusCode).toBe(200);
  await once(answer, 'data');
  return answer.on('error', () => undefined);
}

/** Resolves when the stream ends. The deadline is twice the promised one. */
const ended = async (answer: IncomingMessage) => {
  await eventually('the stream has ended', () => answer.destroyed, { withinMs: 10_000 });
  return { ended: answer.destroyed, complete: answer.complete };
};

const aSession = async () => {
  const user = await world.aUser('admin');
  return { ...user, credential: (await user.signIn()).access_token };
};

/**
 * Each way in which a credential becomes invalid: returns the credential, and a function that ends
 * it.
 */
const endings: Readonly<Record<string, () => Promise<{ credential: string; end: () => Promise<unknown> }>>> = {
  'the revocation of its token': async () => {
    const { id, secret } = await world.aToken();
    return { credential: secret, end: () => world.asAdmin.delete(`/api/v1/tokens/${id}`) };
  },
  'the expiry of its token': async () => {
    const { id, secret } = await world.aToken();
    return { credential: secret, end: () => sql.token.update({ where: { id }, data: { expires_at: new Date() } }) };
  },
  'the reissue of its token': async () => {
    const { id, secret } = await world.aToken();
    return { credential: secret, end: () => world.asAdmin.post(`/api/v1/tokens/${id}/reissue`) };
  },
  'the sign-out of its session': async () => {
    const { credential } = await aSession();
    return { credential, end: () => world.api(`Bearer ${credential}`).post('/api/v1/auth/logout') };
  },
  'the removal of its user': async () => {
    const { credential, id } = await aSession();
    return { credential, end: () => world.asAdmin.delete(`/api/v1/users/${id}`) };
  },
  'a change of the password of its user': async () => {
    const { credential, id } = await aSession();
    const password = 'seventeen quiet tractors';
    return { credential, end: () => world.asAdmin.put(`/api/v1/users/${id}`, { password }) };
  },
  'the loss of the role of its user': async () => {
    const user = await world.anOidcUser({ role: 'viewer' });
    const { sessions } = world.services;
    const { access_token } = await sql.$transaction(async (transaction) =>
      sessions.issueTokens(
        transaction,
        await sessions.open(transaction, { kind: 'oidc', userId: user.id, providerToken: undefined }),
      ),
    );
    return {
      credential: access_token,
      end: () => sql.user.update({ where: { id: user.id }, data: { claims: { role: 'king' } } }),
    };
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
      .setExpirationTime(Math.ceil((Date.now() + scaled(1000)) / 1000)) // enough to open a stream
      .sign(world.signingKey.privateKey);
    return { credential, end: async () => undefined };
  },
};

describe('a log stream ends within five seconds after', () => {
  const streams = new Map<string, IncomingMessage>();
  let unaffected: IncomingMessage;

  beforeAll(async () => {
    await world.asAdmin.put('/api/v1/settings/oidc', { issuer: 'https://provider.example.test', client_id: 'fleet' });
    await world.aUser('admin'); // so that no removed user is the last admin
    unaffected = await follow((await world.aToken()).secret);
    const ends: (() => Promise<unknown>)[] = [];
    for (const [name, make] of Object.entries(endings)) {
      const { credential, end } = await make();
      streams.set(name, await follow(credential));
      ends.push(end);
    }
    await Promise.all(ends.map((end) => end()));
  });

  test.each(Object.keys(endings))('%s, also on another replica, and the response is incomplete', async (name) => {
    const stream = streams.get(name);
    if (!stream) throw new Error(`no stream for ${name}`);
    expect(await ended(stream)).toEqual({ ended: true, complete: false });
  });

  test('no change of its own credential: it continues', async () => {
    expect(unaffected.destroyed).toBe(false);
    unaffected.destroy();
  });
});

describe('the check of the credentials of streams', () => {
  type TestStream = Omit<OpenStream, 'end'> & { readonly ended: Promise<unknown>; readonly end: () => void };
  const aStream = (given: Omit<OpenStream, 'end'>): TestStream => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    return { ...given, end, ended };
  };
  const ofToken = async () => {
    const { id, name, secret } = await world.aToken();
    const principal = { kind: 'token', id, name, role: 'viewer', createdByUser: null, approval: 'none' } as const;
    return { ...aStream({ credential: secret, principal, access: 'resources-read' }), tokenId: id };
  };

  test('ends a stream whose user may still sign in, but no longer has the required role', async () => {
    const { id } = await world.aUser('admin');
    const { sessions } = world.services;
    const sessionId = await sql.$transaction((transaction) =>
      sessions.open(transaction, { kind: 'local', userId: id }),
    );
    const principal = (await sessions.findPeople(sql, [sessionId])).get(sessionId);
    if (!principal) throw new Error('the session was not opened');
    const audit = aStream({ credential: 'opaque', principal, access: 'audit' });
    const logs = aStream({ credential: 'opaque', principal, access: 'resources-read' });
    const checked = createStreamCredentials(world.services, world.log);
    const added = [audit, logs].map((stream) => checked.add(stream));
    await sql.user.update({ where: { id }, data: { role: 'viewer' } });
    await audit.ended;
    expect(await Promise.race([logs.ended, turn('continues')])).toBe('continues');
    for (const { remove } of added) remove();
  });

  test('has the same number of statements for one stream and for fifty', async () => {
    const statementsFor = async (number: number) => {
      let count = 0;
      const statements: Database['statements'] = {
        read: (statement) => {
          count += 1;
          return world.database.statements.read(statement);
        },
      };
      const database: Database = { ...world.database, statements };
      const streams = await Promise.all(Array.from({ length: number }, ofToken));
      const checked = createStreamCredentials({ ...world.services, database }, world.log);
      const added = streams.map((stream) => checked.add(stream));
      const id = streams[0]?.tokenId ?? '';
      await sql.token.update({ where: { id }, data: { revoked_at: new Date() } });
      await Promise.race(streams.map(({ ended }) => ended)); // the first check
      for (const { remove } of added) remove();
      return count;
    };
    expect(await Promise.all([statementsFor(1), statementsFor(50)])).toEqual([1, 1]);
  });

  test('ends all streams if it fails twice, because revocations are not visible then', async () => {
    let attempts = 0;
    const statements: Database['statements'] = {
      read: async () => {
        attempts += 1;
        throw new Error('no connection');
      },
    };
    const database: Database = { ...world.database, statements };
    const stream = await ofToken();
    const { remove } = createStreamCredentials({ ...world.services, database }, world.log).add(stream);
    await stream.ended;
    remove();
    expect(attempts).toBe(2);
  });
});

test('a log can be downloaded as a file', async () => {
  const asked = get({
    port,
    host: '127.0.0.1',
    path: `/api/v1/deployments/${deploymentId}/logs?download=true`,
    headers: { Authorization: `Bearer ${(await world.aToken()).secret}` },
  });
  const [answer]: IncomingMessage[] = await once(asked, 'response');
  expect(answer?.headers['content-disposition']).toBe('attachment; filename="d-0.log"');
  answer?.on('error', () => undefined).destroy();
});

test('the log before the last start cannot be followed, and does not exist before a restart', async () => {
  const path = `/api/v1/deployments/${deploymentId}/logs?previous=true`;
  const { status, body } = await world.asViewer.get(`${path}&follow=true`);
  expect({ status, errors: body.errors }).toEqual({
    status: 400,
    errors: [{ path: 'previous', message: 'must not be combined with follow' }],
  });
  const missing = { status: 404, body: { detail: expect.stringContaining('started only once') } };
  expect(await world.asViewer.get(path)).toMatchObject(missing);
  inspectionMs = 3 * SHORT_TIMINGS.reconciler.logStart;
  expect(await world.asViewer.get(path)).toMatchObject(missing);
  inspectionMs = 0;
});

test.each(['since=yesterday', 'timestamps=1', 'previous=yes', 'download='])('%s is a 400', async (query) => {
  const { status, body } = await world.asViewer.get(`/api/v1/deployments/${deploymentId}/logs?${query}`);
  expect({ status, path: body.errors[0].path }).toEqual({ status: 400, path: query.split('=')[0] });
});

test('a followed log takes a place until its client disconnects, and another log takes none', async () => {
  const { places } = replica.services.changes;
  const none = { places: 0, perCaller: 0 };
  Object.assign(replica.services.changes, {
    places: createPlaces({ what: 'streams', total: 1, perCaller: 1, reserve: none }),
  });
  const { secret } = await world.aToken();
  const statusOf = async (query: string) => {
    const path = `/api/v1/deployments/${deploymentId}/logs?${query}`;
    const asked = get({ port, host: '127.0.0.1', path, headers: { Authorization: `Bearer ${secret}` } });
    const [answer]: IncomingMessage[] = await once(asked, 'response');
    answer?.on('error', () => undefined).destroy();
    return answer?.statusCode;
  };
  const followed = await follow(secret);
  expect(await statusOf('follow=true')).toBe(503);
  expect(await statusOf('follow=false')).toBe(200);
  followed.destroy();
  await eventually('the place is released', () => statusOf('follow=true'), { until: (status) => status === 200 });
  Object.assign(replica.services.changes, { places });
});
