// The end of a run that was killed is waited for, the lease's 15 seconds; for those that froze it is put forward.
import { eventually } from '@svc/testing/faults';
import { aTemplate } from '../a-template.ts';
import { aCategory, fromCall, holdAnswers, refuse } from '../fake-hub.ts';
import { startFaultWorld } from './world.ts';

const { hub, mirror, query, aReplica, endAll, stop } = await startFaultWorld();
hub.setPageSize(2);
afterEach(async () => {
  hub.recover();
  await endAll();
});
afterAll(stop);

const PAGE = 3;
const TAKEOVER_MS = 60_000;

/** A change of all that there is, which takes several pages to tell. */
function changeAll(word: string) {
  const old = hub.shown();
  const templates = old.length > 0 ? old : Array.from({ length: 7 }, () => aTemplate());
  hub.publish(...templates.map((template, index) => ({ ...template, name: `${word} ${index}` })));
  hub.setCategories(aCategory({ name: word }));
}

/** The next page with that number is not answered until it is let go. */
function holdPage(number: number) {
  const { hold, ...held } = holdAnswers();
  hub.behave(fromCall(number, hold));
  return held;
}

/** As if 15 seconds had gone by since the last sign of life. */
const endLease = () => query('UPDATE catalog_sync SET lease_until = now()');

test('one syncs, all serve it and know of it', async () => {
  const [one, other] = await Promise.all([aReplica(), aReplica()]);
  changeAll('new');
  expect((await one.sync()).body).toMatchObject({ status: 'fresh', counts: { templates: 7 } });
  for (const path of ['templates', 'categories', 'sync']) {
    const [ofOne, ofOther] = await Promise.all([one, other].map(({ ask }) => ask('GET', `/api/v1/catalog/${path}`)));
    const ageless = (body: object) => ({ ...body, age_seconds: 0 });
    expect(ageless(ofOther?.body)).toEqual(ageless(ofOne?.body));
  }
  await mirror.expectLike(hub);
});

test('one that waits for the hub gives signs of life, and the other waits for it', async () => {
  const [one, other] = await Promise.all([aReplica(), aReplica()]);
  changeAll('slow');
  const { arrived, letGo } = holdPage(1);
  const first = one.sync();
  await arrived(1);
  const [lease] = await query('SELECT lease_owner, lease_until FROM catalog_sync');
  hub.recover();
  const asked = hub.requests.length;
  const second = other.sync();
  await eventually('the lease is prolonged', async () => {
    const [{ lease_owner, lease_until }] = await query('SELECT lease_owner, lease_until FROM catalog_sync');
    return lease_owner === lease.lease_owner && lease_until > lease.lease_until;
  });
  expect(hub.requests).toHaveLength(asked);
  await letGo(0);
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
  await mirror.expectLike(hub);
});

test(
  'one that is killed in the middle of a walk is followed by the other, from the page that it got to',
  async () => {
    const [one, other] = await Promise.all([aReplica(), aReplica()]);
    changeAll('killed');
    const { arrived } = holdPage(PAGE);
    const lost = one.sync().catch(() => undefined);
    await arrived(1);
    const page = hub.cursors().at(-1);
    await one.kill();
    await lost;
    hub.recover();
    hub.requests.splice(0);
    expect((await other.sync()).body).toMatchObject({ status: 'fresh', last_failure: null });
    expect(hub.cursors()[0]).toBe(page);
    await mirror.expectLike(hub);
  },
  TAKEOVER_MS,
);

test(
  'one that is frozen in the middle of a walk is followed by the other, and when it wakes it writes nothing more of its own',
  async () => {
    const [one, other] = await Promise.all([aReplica(), aReplica()]);
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
  'one that is frozen between its rows and its cursor is followed by the other, which finds neither',
  async () => {
    const [one, other] = await Promise.all([aReplica(), aReplica()]);
    changeAll('before');
    expect((await one.sync()).status).toBe(200);
    changeAll('after');
    const before = await mirror.rows();
    await query(`CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$`);
    await query('CREATE TRIGGER linger AFTER INSERT ON catalog_templates EXECUTE FUNCTION linger()');
    const frozen = one.sync();
    await eventually('rows are being stored', async () => {
      const rows = await query(`SELECT FROM pg_stat_activity
                                WHERE wait_event = 'PgSleep' AND datname = current_database()`);
      return rows.length > 0;
    });
    one.child.kill('SIGSTOP');
    expect(await mirror.rows()).toEqual(before);
    await query('DROP FUNCTION linger() CASCADE');
    expect(await other.sync()).toMatchObject({ status: 200, body: { status: 'fresh' } });
    await mirror.expectLike(hub);
    one.child.kill('SIGCONT');
    expect((await frozen).status).toBe(503); // the database ended its transaction
    expect((await one.sync()).status).toBe(200);
    await mirror.expectLike(hub);
  },
  TAKEOVER_MS,
);
