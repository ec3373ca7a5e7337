import { eventually } from '@svc/testing';
import { DEFAULT_TIMINGS } from '../../src/catalog/schedule.ts';
import { aTemplate } from '../a-template.ts';
import { aCategory, fromCall, holdAnswers, refuse } from '../fake-hub.ts';
import { SHORT_TIMINGS } from '../timings.ts';
import { startFaultWorld } from './world.ts';

/** The timings of tests with the lease of production. */
const timings = { ...SHORT_TIMINGS, catalog: DEFAULT_TIMINGS };
const { hub, mirror, query, aReplica, stop } = await startFaultWorld(timings);
hub.setPageSize(2);
type Replica = Awaited<ReturnType<typeof aReplica>>;
let one: Replica;
let other: Replica;

beforeAll(async () => {
  [one, other] = await Promise.all([aReplica(), aReplica()]);
});
afterEach(() => {
  one.child.kill('SIGCONT');
  hub.recover();
});
afterAll(stop);

const PAGE = 3;
const TAKEOVER_MS = 60_000;

const TEMPLATES = 7;

/** Changes all templates and categories, so that a sync takes several pages. */
function changeAll(word: string) {
  const old = hub.shown();
  const templates = [...old, ...Array.from({ length: TEMPLATES - old.length }, () => aTemplate())];
  hub.publish(...templates.map((template, index) => ({ ...template, name: `${word} ${index}` })));
  hub.setCategories(aCategory({ name: word }));
}

/** HasEtag back the response to the page with the given number. */
function holdPage(number: number) {
  const { hold, ...held } = holdAnswers();
  hub.behave(fromCall(number, hold));
  return held;
}

/** Ends the lease at once. */
const endLease = () => query('UPDATE catalog_sync SET lease_until = now()');

test('all fleet processes serve the mirror that one of them has synced', async () => {
  changeAll('new');
  expect((await one.sync()).body).toMatchObject({ status: 'fresh', counts: { templates: TEMPLATES } });
  for (const path of ['templates', 'categories', 'sync']) {
    const [ofOne, ofOther] = await Promise.all([one, other].map(({ ask }) => ask('GET', `/api/v1/catalog/${path}`)));
    const ageless = (body: object) => ({ ...body, age_seconds: 0 });
    expect(ageless(ofOther?.body)).toEqual(ageless(ofOne?.body));
  }
  await mirror.expectLike(hub);
});

test('a sync that waits for the hub renews its lease, and the sync of another fleet process waits', async () => {
  changeAll('slow');
  const { arrived, release } = holdPage(1);
  const first = one.sync();
  await arrived(1);
  const [lease] = await query('SELECT lease_owner, lease_until FROM catalog_sync');
  hub.recover();
  const requestCount = hub.requests.length;
  const second = other.sync();
  await eventually('the lease is renewed', async () => {
    const [{ lease_owner, lease_until }] = await query('SELECT lease_owner, lease_until FROM catalog_sync');
    return lease_owner === lease.lease_owner && lease_until > lease.lease_until;
  });
  expect(hub.requests).toHaveLength(requestCount);
  await release(0);
  expect((await first).status).toBe(200);
  expect((await second).status).toBe(200);
  await mirror.expectLike(hub);
});

test(
  'a fleet process that is frozen during a walk writes nothing after another process has taken over',
  async () => {
    changeAll('stale');
    const { arrived, release } = holdPage(PAGE);
    const superseded = one.sync();
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
    hub.behave(refuse('unavailable'), 'organization'); // so that it cannot start another sync
    await release(0);
    one.child.kill('SIGCONT');
    expect((await superseded).status).toBe(502);
    expect(await mirror.rows()).toEqual(before);
    hub.recover();
    expect((await one.sync()).status).toBe(200);
    await mirror.expectLike(hub);
  },
  TAKEOVER_MS,
);

test(
  'a fleet process that is frozen between storing rows and the cursor has stored neither',
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
  'after a fleet process is killed during a walk, another one continues from the last stored page',
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
