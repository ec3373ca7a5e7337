// The first syncs of fleets: all pages of changes from the start.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../shared/client.mjs';
import { cpuDuring } from '../shared/measure.mjs';
import { p99 } from '../shared/statistics.mjs';

const UPDATES = '/api/v1/catalog/templates/updates';
/** More than the number of polls that wait at the same time. */
const POLL_CONNECTIONS = 32;

/** Reads all pages. @returns the number of templates */
async function sync({ url }, key) {
  const client = createClient({ url });
  let count = 0;
  try {
    for (let cursor = 'start'; cursor !== undefined; ) {
      const { status, body } = await client.send({ path: `${UPDATES}?cursor=${cursor}`, key });
      if (status === 503) {
        await delay(100); // its turn did not come in time
        continue;
      }
      if (status !== 200) throw new Error(`a page was answered with ${status}`);
      const page = JSON.parse(body);
      count += page.templates.length;
      cursor = page.has_more ? page.cursor : undefined;
    }
  } catch (error) {
    client.close();
    throw error;
  }
  client.end();
  return count;
}

/** Sends polls of all keys in turn at fixed times. @returns their latencies in milliseconds */
async function poll(
  { url, keys = [undefined], path = `${UPDATES}?since=2999-01-01T00:00:00Z` },
  { perSecond, seconds },
) {
  const client = createClient({ url, connections: POLL_CONNECTIONS });
  const latencies = [];
  let failure;
  const send = async (key) => {
    try {
      const { status, latency } = await client.send({ path, key });
      if (status !== 200) throw new Error(`a poll was answered with ${status}`);
      latencies.push(latency);
    } catch (error) {
      failure ??= error;
    }
  };
  const polls = [];
  const started = performance.now();
  for (let count = 0; count < perSecond * seconds; count += 1) {
    polls.push(send(keys.at(-1 - (count % keys.length))));
    await delay(Math.max(0, started + (1000 * (count + 1)) / perSecond - performance.now()));
  }
  await Promise.all(polls);
  if (failure !== undefined) {
    client.close();
    throw failure;
  }
  client.end();
  return latencies;
}

const p99OfPolls = async (hub) => p99(await poll(hub, { perSecond: 100, seconds: 2 }));

/**
 * The CPU time that a server and its database need for fleets, each of which polls once per minute,
 * as shares of a core.
 */
export async function measureFleets(server, fleets) {
  const polls = { perSecond: fleets / 60, seconds: 6 };
  const { cpu, withDatabase } = await cpuDuring(server, () => poll(server, polls));
  const shareOf = (milliseconds) => milliseconds / (1000 * polls.seconds);
  return { cpu: shareOf(cpu), database: shareOf(withDatabase - cpu) };
}

/**
 * @returns the CPU time of the hub in milliseconds for the first sync after its start and for a
 * later one, and the p99 of polls beside eight of them, relative to that without them
 */
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
