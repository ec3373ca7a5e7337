// The first syncs of fleets: all pages of changes from the start.
import { setTimeout as delay } from 'node:timers/promises';
import { cpuDuring } from '../shared/measure.mjs';

const UPDATES = '/api/v1/catalog/templates/updates';

/** Reads all pages. @returns the number of templates */
async function sync({ url }, key) {
  let count = 0;
  for (let cursor = 'start'; cursor !== undefined; ) {
    const response = await fetch(`${url}${UPDATES}?cursor=${cursor}`, { headers: { authorization: `Bearer ${key}` } });
    if (response.status === 503) {
      await delay(100); // its turn did not come in time
      continue;
    }
    if (!response.ok) throw new Error(`a page was answered with ${response.status}`);
    const page = await response.json();
    count += page.templates.length;
    cursor = page.has_more ? page.cursor : undefined;
  }
  return count;
}

/** Sends polls of all keys in turn at fixed times. @returns their latencies in milliseconds, sorted */
async function poll({ url, keys = [''], path = `${UPDATES}?since=2999-01-01T00:00:00Z` }, { perSecond, seconds }) {
  const latencies = [];
  const send = async (key) => {
    const started = performance.now();
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`a poll was answered with ${response.status}`);
    latencies.push(performance.now() - started);
  };
  const polls = [];
  const started = performance.now();
  for (let count = 0; count < perSecond * seconds; count += 1) {
    polls.push(send(keys.at(-1 - (count % keys.length))));
    await delay(Math.max(0, started + (1000 * (count + 1)) / perSecond - performance.now()));
  }
  await Promise.all(polls);
  return latencies.toSorted((one, other) => one - other);
}

async function p99OfPolls(hub) {
  const latencies = await poll(hub, { perSecond: 100, seconds: 2 });
  return latencies[Math.floor(0.99 * latencies.length)];
}

/** The CPU time that a server and its database need for fleets, each of which polls once per minute, as shares of a core. */
export async function measureFleets(server, fleets) {
  const polls = { perSecond: fleets / 60, seconds: 6 };
  const { cpu, withDatabase } = await cpuDuring(server, () => poll(server, polls));
  const shareOf = (milliseconds) => milliseconds / (1000 * polls.seconds);
  return { cpu: shareOf(cpu), database: shareOf(withDatabase - cpu) };
}

/** @returns the CPU time of the hub for the first sync after its start and for a later one, and the p99 of polls beside eight of them */
export async function measureFirstSyncs(hub) {
  const cpuOf = async (key) => {
    const before = hub.cpu();
    if ((await sync(hub, key)) === 0) throw new Error('the catalog is empty');
    return hub.cpu() - before;
  };
  const firstMs = await cpuOf(hub.keys[0]);
  const laterMs = await cpuOf(hub.keys[1]);
  await p99OfPolls(hub); // a warm-up
  const idle = await p99OfPolls(hub);
  let ended = false;
  const syncing = hub.keys.slice(2, 10).map(async (key) => {
    while (!ended) await sync(hub, key);
  });
  const busy = await p99OfPolls(hub).finally(() => (ended = true));
  await Promise.all(syncing);
  return { firstMs, laterMs, ratio: busy / idle };
}
