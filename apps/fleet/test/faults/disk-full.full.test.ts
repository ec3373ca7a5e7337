// These tests need permission to mount a tmpfs (root on Linux). Without it they are skipped.
import { eventually, figure } from '@svc/testing';
import {
  ask,
  describeOnDisk,
  type LoadResult,
  type OwnPostgres,
  queryOn,
  type RequestOptions,
  type RunningService,
  statusesOf,
  summaryOf,
  whileFull,
} from '@svc/testing/faults';
import { openDatabase } from '../../src/database/client.ts';
import { contentsOf } from '../audit/contents.ts';
import { TEMPORARY_ADMIN } from '../world.ts';
import { openLedger } from './identity-ledger.ts';
import { anAdminToken, prepareFleetFaults } from './identity-world.ts';

const { closers, aDisk, aPostgres, aFleet } = prepareFleetFaults();
const ROUNDS = 20;
const LOGIN = '/api/v1/auth/login';
const SIGN_IN = {
  SVC_TEMP_ADMIN_USERNAME: TEMPORARY_ADMIN.username,
  SVC_TEMP_ADMIN_PASSWORD: TEMPORARY_ADMIN.password,
};

describeOnDisk('on a full disk, the fleet', aDisk('192m'), (disk) => {
  let postgres: OwnPostgres;
  let fleet: RunningService;
  let ledger: ReturnType<typeof openLedger>;
  let session: { readonly access_token: string; readonly refresh_token: string };
  let contents: () => Promise<readonly string[]>;

  beforeAll(async () => {
    postgres = await aPostgres(disk);
    const { databaseUrl } = postgres;
    fleet = await aFleet({ databaseUrl, environment: SIGN_IN });
    ledger = openLedger({ url: () => fleet.url, secret: await anAdminToken(databaseUrl) });
    session = (await post(LOGIN, TEMPORARY_ADMIN)).body;
    const database = openDatabase(databaseUrl, () => undefined);
    closers.push(database.close);
    contents = () => contentsOf(database);
  });

  const send = (path: string, options?: RequestOptions) => ask(`${fleet.url}${path}`, options);
  const post = (path: string, body: object, options: RequestOptions = {}) =>
    send(path, { ...options, method: 'POST', body });
  const inSession = () => ({ authorization: `Bearer ${session.access_token}` });
  const aUser = (name: string) =>
    post(
      '/api/v1/users',
      { email: `${name}@example.test`, role: 'viewer', password: `the secret of ${name}` },
      inSession(),
    );

  /** Requests with an audit entry: those with a token, and all changes. */
  const recorded = () => [
    ledger.writer('while the disk was full'),
    ledger.reader('/api/v1/tokens'),
    ledger.reader('/api/v1/catalog/templates'),
    ledger.reader('/healthz'),
    ledger.reader('/nothing'),
    () => aUser('somebody'),
  ];
  const unrecorded = [
    ...['/api/v1/users', '/api/v1/tokens', '/api/v1/auth/me', '/api/v1/catalog/sync', '/api/v1/audit'].map(
      (path) => () => send(path, inSession()),
    ),
    ...['/api/v1/auth/config', '/healthz', '/readyz'].map((path) => () => send(path)),
  ];

  test('responds with 503 to requests with an audit entry, serves the others, and recovers when there is space', async () => {
    const write = ledger.writer('before');
    expect((await write()).status).toBe(201);
    expect((await write()).status).toBe(200);
    const refused: LoadResult[] = [];
    const read: LoadResult[] = [];
    await whileFull(disk, postgres, async () => {
      // The shortest entries fill the last page.
      await eventually('the audit log is full', async () => (await ledger.reader('/')()).status === 503);
      const before = await contents();
      for (let round = 1; round <= ROUNDS; round++) {
        for (const request of recorded()) refused.push(await request());
        for (const request of unrecorded) read.push(await request());
      }
      refused.push(await post(LOGIN, TEMPORARY_ADMIN));
      expect((await send('/readyz')).body).toMatchObject({
        status: 'ready',
        checks: [
          { name: 'database', state: 'ok' },
          { name: 'audit log' },
          { name: 'encryption keys', state: 'ok' },
          { name: 'webhooks delivery', state: 'ok' },
          {},
          {},
        ],
      });
      expect((await send('/healthz')).body).toEqual({ status: 'alive' });
      expect(await contents()).toEqual(before);
    });
    figure(`disk full: requests with an audit entry ${summaryOf(refused)}; other requests ${summaryOf(read)}`);
    expect(new Set(refused.map(({ status, retryAfter, body }) => `${status} ${body.code} ${retryAfter}`))).toEqual(
      new Set(['503 unavailable 1']),
    );
    expect(statusesOf(read)).toEqual([200]);

    expect(statusesOf([await ledger.writer('after')(), await aUser('after')])).toEqual([201]);
    const { refresh_token } = session;
    const signIns = [await post(LOGIN, TEMPORARY_ADMIN), await post('/api/v1/auth/refresh', { refresh_token })];
    expect(statusesOf(signIns)).toEqual([200]);
    expect(fleet.child.exitCode).toBeNull();
    const query = queryOn(postgres.databaseUrl);
    expect([...(await ledger.lost(query)), ...(await ledger.misrecorded(query))]).toEqual([]);
  });
});
