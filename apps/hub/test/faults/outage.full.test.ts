// Reads of the catalog, which the hub usually answers from memory, while PostgreSQL is killed or
// frozen.
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, figure } from '@svc/testing';
import { ask, type LoadResult, startLoad, statusesOf } from '@svc/testing/faults';
import { type OutageWorld, readersOf, startOutageWorld } from './outage-world.ts';
import { type PipelinedResponse, sendPipelined } from './pipelined.ts';
import { prepareHubFaults } from './world.ts';

/** The promises to users. */
const ANSWERED_WITHIN_MS = 5000;
const RECOVERED_WITHIN_MS = 1000;
/** The number of responses that each reader receives before, during and after an outage. */
const SOME_RESPONSES = 5;

/** More requests than can wait for a check of the revision. */
const FLOOD = { connections: 200, each: 100 };
const FLOODS = 3;
const OVERLOADED = '10000 requests wait for the database already.';
/** 10,000 waiting requests need about 380 MB, including garbage. */
const MEMORY_GROWTH_LIMIT_MB = 760;

const FREEZES = 3;
const LONGER_THAN_STATEMENT_TIMEOUT_MS = 4000;

const faults = prepareHubFaults();
// The processes of PostgreSQL are found in /proc.
const onLinux = process.platform === 'linux' ? test : test.skip;
let world: OutageWorld;
beforeAll(async () => {
  world = await startOutageWorld(faults);
});

interface Outage {
  readonly name: string;
  readonly begin: () => unknown;
  readonly end: () => unknown;
}

interface Read {
  readonly reader: number;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly seen: LoadResult;
  /** Whether the response shows the change directly after the outage. */
  readonly isNew: boolean;
}
const isSuccess = ({ seen: { status } }: Read) => status === 200 || status === 304;

/**
 * Reads before, during and after an outage, with a change directly after it. @returns the reads,
 * and the time of each event
 */
async function readDuring({ name, begin, end }: Outage) {
  const readers = await readersOf(world);
  const reads: Read[] = [];
  const lanes = readers.map(({ path, options, shows }, reader) => async () => {
    const sentAt = performance.now();
    const seen = await ask(`${world.hub.url}${path}`, options);
    const isNew = seen.status === 200 && shows(name, seen);
    reads.push({ reader, sentAt, answeredAt: performance.now(), seen, isNew });
    return seen;
  });
  const eachReceives = (what: string, matches: (read: Read) => boolean) =>
    eventually(`each reader receives ${what}`, async () =>
      readers.every((_, index) => reads.filter((one) => one.reader === index && matches(one)).length >= SOME_RESPONSES),
    );
  const load = startLoad(lanes);
  try {
    await eachReceives('data before the outage', isSuccess);
    const beginning = performance.now();
    await begin();
    const began = performance.now();
    await eachReceives('responses during the outage', ({ sentAt }) => sentAt > began);
    const ending = performance.now();
    const [accepting] = await Promise.all([firstConnection(), end()]);
    await world.change(name);
    const changed = performance.now();
    await eachReceives('data after the outage', (read) => read.sentAt > changed && isSuccess(read));
    return { reads, beginning, began, ending, accepting, changed, readers: readers.length };
  } finally {
    await load.stop();
  }
}

/** When PostgreSQL executes statements of new connections. */
async function firstConnection(): Promise<number> {
  const works = () =>
    world.query('SELECT').then(
      () => true,
      () => false, // not yet
    );
  await eventually('PostgreSQL accepts connections', works);
  return performance.now();
}

/** Expects what the hub promises for an outage. */
async function expectPromises(outage: Outage): Promise<void> {
  const { reads, beginning, began, ending, accepting, changed, readers } = await readDuring(outage);
  const during = reads.filter(({ sentAt, answeredAt }) => sentAt > began && answeredAt < ending);
  expect(new Set(during.map(({ seen }) => `${seen.status} ${seen.retryAfter}`))).toEqual(new Set(['503 1']));
  expect(statusesOf(reads.map(({ seen }) => seen))).toEqual([200, 304, 503]);

  const longest = Math.max(...reads.map(({ seen }) => seen.ms));
  expect(longest).toBeLessThan(ANSWERED_WITHIN_MS);
  expect(reads.filter((read) => read.sentAt > changed && isSuccess(read) && !read.isNew)).toEqual([]);

  const recoveries = Array.from({ length: readers }, (_, index) => {
    const first = reads.find((read) => read.reader === index && read.sentAt > began && isSuccess(read));
    return (first?.answeredAt ?? Number.POSITIVE_INFINITY) - accepting;
  });
  expect(Math.max(...recoveries)).toBeLessThan(5 * RECOVERED_WITHIN_MS);
  const first = Math.min(...reads.filter(({ seen }) => seen.status === 503).map(({ answeredAt }) => answeredAt));
  const timesInMs = [first - beginning, longest, Math.max(...recoveries)].map(Math.round);
  figure(
    `PostgreSQL ${outage.name}: ${during.length} responses, all 503; the first 503, the longest response, and the last ` +
      `recovery of a reader after ${timesInMs.join(', ')} ms`,
  );
}

onLinux(
  'reads of the catalog receive only 503 while PostgreSQL is stopped by SIGKILL, and current data soon after its restart',
  () => expectPromises({ name: 'killed', begin: world.postgres.kill, end: world.postgres.restart }),
);

onLinux(
  'reads of the catalog receive only 503 while PostgreSQL is frozen, and current data soon after it continues',
  () => expectPromises({ name: 'frozen', begin: world.postgres.freeze, end: world.postgres.thaw }),
);

onLinux(
  'while PostgreSQL is frozen, the number of waiting requests and their memory are bounded, and each one receives 503',
  async () => {
    const { postgres, hub, list, change } = world;
    const before = memoryOf(hub.child.pid, 'VmRSS');
    for (let flood = 1; flood <= FLOODS; flood += 1) {
      postgres.freeze();
      const started = performance.now();
      const responses = await sendPipelined({ url: list, ...FLOOD });
      const ms = Math.round(performance.now() - started);
      const growth = Math.round(memoryOf(hub.child.pid, 'VmHWM') - before);
      const overloaded = responses.filter(({ text }) => text.includes(OVERLOADED));
      figure(`${responses.length} requests: ${overloaded.length} overloaded; ${ms} ms; memory grew by ${growth} MB`);
      expect(responses).toHaveLength(FLOOD.connections * FLOOD.each);
      expect(new Set(responses.map(summaryOf))).toEqual(new Set(['503 unavailable', '503 overloaded']));
      expect(overloaded).not.toEqual([]);
      expect(growth).toBeLessThan(MEMORY_GROWTH_LIMIT_MB);

      postgres.thaw();
      await change(`flood ${flood}`);
      await eventually('reads work again', async () => (await ask(list)).status === 200);
      expect((await ask(list)).body.templates[0].description).toBe(`flood ${flood}`);
    }
  },
);

onLinux('each download is counted once, also if PostgreSQL is frozen while it stores the counts', async () => {
  const { postgres, list, key: authorization, createTemplate } = world;
  await createTemplate('counted');
  const stored = () => world.stored('counted');
  let acknowledged = 0;
  const download = async () => {
    expect((await ask(`${list}/counted`, { authorization })).status).toBe(200);
    acknowledged += 1;
  };
  for (let freeze = 1; freeze <= FREEZES; freeze += 1) {
    for (let count = 1; count <= SOME_RESPONSES; count += 1) await download();
    await delay(Math.random() * 10); // at any point of a flush
    postgres.freeze();
    await delay(LONGER_THAN_STATEMENT_TIMEOUT_MS);
    postgres.thaw();
    await eventually('the counts are stored', async () => (await stored()) >= acknowledged);
  }
  await eventually('reads work again', async () => (await ask(list)).status === 200);
  await download(); // it is stored after all counts that are stored again
  await eventually('the last count is stored', async () => (await stored()) >= acknowledged);
  expect(await stored()).toBe(acknowledged);
});

const summaryOf = ({ status, text }: PipelinedResponse) => `${status} ${/"code":"(\w+)"/.exec(text)?.[1]}`;

/** The current or maximum memory of a process in MB. */
const memoryOf = (pid: number | undefined, which: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`^${which}:\\s+(\\d+) kB`, 'm').exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
