import { byDepth, depth } from '@svc/testing';
import { eventually } from '@svc/testing/faults';
import { DEFAULT_TIMINGS } from '../../src/catalog/timings.ts';
import { aTemplate } from '../a-template.ts';
import { aCategory, fromCall, holdAnswers, refuse } from '../fake-hub.ts';
import { SHORT_TIMINGS } from '../timings.ts';
import { startFaultWorld } from './world.ts';

/** From depth full on with the lease of production. */
const timings = {
  ...SHORT_TIMINGS,
  catalog: byDepth({ short: SHORT_TIMINGS.catalog, full: DEFAULT_TIMINGS, long: DEFAULT_TIMINGS }),
};
const { hub, mirror, query, aReplica, stop } = await startFaultWorld(timings);
hub.setPageSize(2);
type Replica = Awaited<ReturnType<typeof aReplica>>;
let one: Replica;
let other: Replica;

beforeAll(async () => {
  [one, other] = await Promise.all([aReplica(), aReplica()]);
}, 120_000);
afterEach(() => {
  one.child.kill('SIGCONT');
  hub.recover();
});
afterAll(stop);

const PAGE = 3;
const TAKEOVER_MS = 60_000;

const TEMPLATES = 7;

/** Changes everything. It takes several pages to send. */
function changeAll(word: string) {
  const old = hub.shown();
  const templates = [...old, ...Array.from({ length: TEMPLATES - old.length }, () => aTemplate())];
  hub.publish(...templates.map((template, index) => ({ ...template, name: `${word} ${index}` })));
  hub.setCategories(aCategory({ name: word }));
}

/** Holds the answer to the next page with that number back. */
function holdPage(number: number) {
  const { hold, ...held } = holdAnswers();
  hub.behave(fromCall(number, hold));
  return held;
}

/** Ends the lease at once. */
const endLease = () => query('UPDATE catalog_sync SET lease_until = now()');

/** Ends the transaction of a frozen replica. At the other depths the test waits until its timeout ends it. */
const endIdleTransaction = () =>
  eventually('the transaction is idle', async () => {
    const ended = await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                               WHERE state = 'idle in transaction' AND datname = current_database()`);
    return ended.length > 0;
  });

test('all replicas serve what one of them has synced', async () => {
  changeAll('new');
  expect((await one.sync()).body).toMatchObject({ status: 'fresh', counts: { templates: TEMPLATES } });
  for (const path of ['templates', 'categories', 'sync']) {
    const [ofOne, ofOther] = await Promise.all([one, other].map(({ ask }) => ask('GET', `/api/v1/catalog/${path}`)));
    const ageless = (body: object) => ({ ...body, age_seconds: 0 });
    expect(ageless(ofOther?.body)).toEqual(ageless(ofOne?.body));
  }
  await mirror.expectLike(hub);
});

test('a run that waits for the hub renews its lease, and the run of another replica waits', async () => {
  changeAll('slow');
  const { arrived, letGo } = holdPage(1);
  const first = one.sync();
  await arrived(1);
  const [lease] = await query('SELECT lease_owner, lease_until FROM catalog_sync');
  hub.recover();
  const asked = hub.requests.length;
  const second = other.sync();
  await eventually('the lease is renewed', async () => {
    const [{ lease_owner, lease_until }] = await query('SELECT lease_owner, lease_until FROM catalog_sync');
    return lease_owner === lease.lease_owner && lease_until > lease.lease_until;
  });
  expect(hub.requests).toHaveLength(asked);
  await letGo(0);
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
  await mirror.expectLike(hub);
});

test(
  'a replica that is frozen in the middle of a walk writes nothing after another replica has taken over',
  async () => {
    changeAll('stale');
    const { arrived, letGo } = holdPage(PAGE);
    const overtaken = one.sync();
    await arrived(1);
    one.child.kill('SIGSTOP');
    hub.recover();
    changeAll('new');
    hub.withdraw(...hub.shown().slice(4));
    hub.changeOrganization({ tier: 'enterprise' });
    await endLease();
    expect((await other.sync()).body).toMatchObject({ status: 'fresh' });
    await mirror.expectLike(hub);

    const before = await mirror.rows();
    hub.behave(refuse('unavailable'), 'organization'); // so it can't begin another run either
    await letGo(0);
    one.child.kill('SIGCONT');
    expect((await overtaken).status).toBe(502);
    expect(await mirror.rows()).toEqual(before);
    hub.recover();
    expect((await one.sync()).status).toBe(200);
    await mirror.expectLike(hub);
  },
  TAKEOVER_MS,
);

test(
  'a replica that is frozen between its rows and its cursor has stored neither',
  async () => {
    changeAll('before');
    expect((await one.sync()).status).toBe(200);
    changeAll('after');
    const before = await mirror.rows();
    await query(`CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$`);
    await query('CREATE TRIGGER linger AFTER INSERT ON catalog_templates EXECUTE FUNCTION linger()');
    const frozen = one.sync();
    await eventually('rows are being stored', async () => {
      const rows = await query(`SELECT FROM pg_stat_activity
                                WHERE wait_event = 'PgSleep' AND datname = current_database()`);
      return rows.length > 0;
    });
    one.child.kill('SIGSTOP');
    expect(await mirror.rows()).toEqual(before);
    if (depth === 'short') await endIdleTransaction();
    await query('DROP FUNCTION linger() CASCADE'); // waits for the end of the transaction
    expect(await other.sync()).toMatchObject({ status: 200, body: { status: 'fresh' } });
    await mirror.expectLike(hub);
    one.child.kill('SIGCONT');
    expect((await frozen).status).toBe(503);
    expect((await one.sync()).status).toBe(200);
    await mirror.expectLike(hub);
  },
  TAKEOVER_MS,
);

test(
  'after a replica is killed in the middle of a walk another one goes on from the last stored page',
  async () => {
    const { last_failure } = (await other.ask('GET', '/api/v1/catalog/sync')).body;
    changeAll('killed');
    const { arrived } = holdPage(PAGE);
    const lost = one.sync().catch(() => undefined);
    await arrived(1);
    const page = hub.cursors().at(-1);
    await one.kill();
    await lost;
    hub.recover();
    hub.requests.splice(0);
    expect((await other.sync()).body).toMatchObject({ status: 'fresh', last_failure });
    expect(hub.cursors()[0]).toBe(page);
    await mirror.expectLike(hub);
  },
  TAKEOVER_MS,
);
