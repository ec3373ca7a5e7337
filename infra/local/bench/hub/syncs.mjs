// The first syncs of fleets: all pages of changes from the start.
import { setTimeout as delay } from 'node:timers/promises';

const UPDATES = '/api/v1/catalog/templates/updates';
const POLLS = 200;
const POLL_MS = 10;

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

/** The p99 of polls at fixed times, in milliseconds. */
async function p99OfPolls({ url, keys }) {
  const headers = { authorization: `Bearer ${keys.at(-1)}` };
  const latencies = [];
  const polls = [];
  for (let poll = 0; poll < POLLS; poll += 1) {
    const started = performance.now();
    const finished = fetch(`${url}${UPDATES}?since=2999-01-01T00:00:00Z`, { headers }).then(async (response) => {
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`a poll was answered with ${response.status}`);
      latencies.push(performance.now() - started);
    });
    polls.push(finished);
    await delay(POLL_MS);
  }
  await Promise.all(polls);
  return latencies.toSorted((one, other) => one - other)[Math.floor(0.99 * POLLS)];
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
