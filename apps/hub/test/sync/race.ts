import { ask } from '@svc/testing/faults';
import { pruneHistory } from '../../src/catalog/prune.ts';
import { aListeningHub } from '../listening-hub.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, clientBySince, type Get, listingOf, lostIn } from './mirror.ts';
import { alternating, poll, startWriters } from './race-load.ts';

const WRITERS = 8;
const SMALL_PAGE = 7;

/** Commits take a random while, so that who writes first is not always seen first. */
const SLOW_COMMITS = [
  `CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN PERFORM pg_sleep(0.002 * random()); RETURN NULL; END $$`,
  `CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT OR UPDATE OR DELETE ON templates
     DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow_commit()`,
];

/** Where a catalog without a clock of its own takes its stamps from; no writer waits for another. */
type NaiveStamp = 'now()' | 'clock_timestamp()';

const naiveClock = (stamp: NaiveStamp) => [
  `ALTER TABLE catalog_clock RENAME TO unused_clock`,
  `CREATE VIEW catalog_clock AS
     SELECT 1 AS id, date_trunc('milliseconds', clock_timestamp()) AS at, NULL::timestamptz AS floor`,
  `CREATE FUNCTION move_no_clock() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$`,
  `CREATE TRIGGER move_no_clock INSTEAD OF UPDATE ON catalog_clock FOR EACH ROW EXECUTE FUNCTION move_no_clock()`,
  `CREATE OR REPLACE FUNCTION catalog_stamp() RETURNS timestamptz LANGUAGE sql AS
     $$ SELECT date_trunc('milliseconds', ${stamp}) $$`,
];

export interface Race {
  /** Instances of the hub over one database: every client goes from one to the next with each request. */
  readonly hubs: number;
  readonly commits: number;
  /** Instead of the catalog's clock. */
  readonly naive?: NaiveStamp;
  /** Forgets everything that can be forgotten, without a pause. */
  readonly pruning?: boolean;
}

/** Writers and pollers against hubs on a database of their own. @returns what each poller had lost when writers paused */
export async function race({ hubs, commits, naive, pruning = false }: Race) {
  const { client, database, callers, nextUrl, stop } = await aTrack(hubs);
  try {
    for (const sql of [...SLOW_COMMITS, ...(naive ? naiveClock(naive) : [])]) await client.$executeRawUnsafe(sql);
    const reading = (): Get => {
      const next = nextUrl();
      return (path) => ask(`${next()}${path}`, { authorization: callers.reader });
    };
    const pollers = { since: clientBySince(reading()), cursor: clientByCursor(reading(), SMALL_PAGE) };
    const started = performance.now();
    const before = await client.catalogCommit.count();
    const { done, over } = startWriters({ writers: WRITERS, commits, ...callers, nextUrl });
    const [since, cursor] = await Promise.all([
      poll(pollers.since.sync, over),
      poll(pollers.cursor.sync, over),
      pruning ? poll(() => pruneHistory(database, new Date()), over) : 0,
      done,
    ]);
    const listed = await listingOf(reading());
    return {
      lost: { since: lostIn(pollers.since.held, listed), cursor: lostIn(pollers.cursor.held, listed) },
      polls: { since, cursor },
      stamps: (await client.catalogCommit.count()) - before,
      listed: listed.size,
      seconds: (performance.now() - started) / 1000,
    };
  } finally {
    await stop();
  }
}

/** A world with hubs that listen, and the callers of the race. */
async function aTrack(hubs: number) {
  const { database, databaseUrl, issuer, ...world } = await startWorld();
  const listening = await Promise.all(Array.from({ length: hubs }, () => aListeningHub(databaseUrl, issuer)));
  const { client } = database;
  await client.user.create({ data: { iss: issuer.issuer, sub: 'writer', role: 'admin', role_set: true } });
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return {
    client,
    database,
    callers: {
      admin: `Bearer ${await issuer.sign('writer', { exp })}`,
      reader: `Bearer ${(await world.anOrganization()).key}`,
      categoryId: (await world.aCategory()).id,
    },
    /** Each client goes from one hub to the next by itself. */
    nextUrl: () => alternating(listening.map(({ url }) => url)),
    stop: async () => {
      await Promise.all(listening.map(({ stop }) => stop()));
      await world.stop();
    },
  };
}
