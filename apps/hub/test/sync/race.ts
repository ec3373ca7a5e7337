import { ask } from '@svc/testing/faults';
import { pruneHistory } from '../../src/catalog/history.ts';
import { aListeningHub } from '../listening-hub.ts';
import { getOfKind, type ObjectKind } from '../objects.ts';
import { startWorld } from '../world.ts';
import { clientByCursor, clientBySince, type Get, listingOf, lostIn } from './mirror.ts';
import { alternating, poll, startWriters } from './race-load.ts';

const WRITERS = 8;
const SMALL_PAGE = 7;

/**
 * Commits take a random time, so that the first write is not always the first to become visible.
 */
const slowCommits = (of: ObjectKind) => [
  `CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN PERFORM pg_sleep(0.002 * random()); RETURN NULL; END $$`,
  `CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT OR UPDATE OR DELETE ON ${of}
     DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow_commit()`,
];

/** The source of stamps instead of the catalog clock. Writers do not wait for each other. */
type NaiveStamp = 'now()' | 'clock_timestamp()';

const naiveClock = (stamp: NaiveStamp) => [
  `ALTER TABLE catalog_clock RENAME TO unused_clock`,
  `CREATE VIEW catalog_clock AS
     SELECT 1 AS id, date_trunc('milliseconds', clock_timestamp()) AS at, NULL::timestamptz AS floor`,
  `CREATE FUNCTION ignore_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$`,
  `CREATE TRIGGER ignore_update INSTEAD OF UPDATE ON catalog_clock FOR EACH ROW EXECUTE FUNCTION ignore_update()`,
  `CREATE OR REPLACE FUNCTION catalog_stamp() RETURNS timestamptz LANGUAGE sql AS
     $$ SELECT date_trunc('milliseconds', ${stamp}) $$`,
];

export interface Race {
  /** The objects that are written and read. Default: templates. */
  readonly of?: ObjectKind;
  /**
   * Number of instances of the hub on one database. Each client alternates between them with each
   * request.
   */
  readonly hubs: number;
  readonly commits: number;
  /** Replaces the catalog clock. */
  readonly naive?: NaiveStamp;
  /** Whether the history is pruned continuously. */
  readonly pruning?: boolean;
}

/**
 * Runs writers and pollers concurrently. @returns the differences between each poller and the list
 * at the end
 */
export async function race({ of = 'templates', hubs, commits, naive, pruning = false }: Race) {
  const { client, database, callers, nextUrl, stop } = await startHubs(hubs);
  try {
    for (const sql of [...slowCommits(of), ...(naive ? naiveClock(naive) : [])]) await client.$executeRawUnsafe(sql);
    const reading = (): Get => {
      const next = nextUrl();
      return getOfKind(of, (path: string) => ask(`${next()}${path}`, { authorization: callers.reader }));
    };
    const pollers = { since: clientBySince(reading()), cursor: clientByCursor(reading(), SMALL_PAGE) };
    const started = performance.now();
    const before = await client.catalogCommit.count();
    const { done, isOver } = startWriters({ of, writers: WRITERS, commits, ...callers, nextUrl });
    const [since, cursor] = await Promise.all([
      poll(pollers.since.sync, isOver),
      poll(pollers.cursor.sync, isOver),
      pruning ? poll(() => pruneHistory(database, new Date()), isOver) : 0,
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

/** Starts the instances of the hub, and creates the callers. */
async function startHubs(hubs: number) {
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
    /** Creates the alternation between instances for one client. */
    nextUrl: () => alternating(listening.map(({ url }) => url)),
    stop: async () => {
      await Promise.all(listening.map(({ stop }) => stop()));
      await world.stop();
    },
  };
}
