// The first syncs of fleets: all pages of changes from the start.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '../shared/client.mjs';
import { cpuDuring } from '../shared/measure.mjs';
import { p99 } from '../shared/statistics.mjs';
import { longestBlock } from './blocks.mjs';
import { startFleets } from './fleets.mjs';

const UPDATES = '/api/v1/catalog/templates/updates';

/** The end of a page, which contains what a client needs to continue. It is read without the templates. */
const END_BYTES = 4096;

/** Reads all pages. @returns the number of bytes */
export async function sync({ url }, key) {
  const client = createClient({ url });
  let bytes = 0;
  try {
    for (let cursor = 'start'; cursor !== undefined; ) {
      const { status, body } = await client.send({ path: `${UPDATES}?cursor=${cursor}`, key });
      if (status === 503) {
        await delay(100); // its turn did not come in time
        continue;
      }
      if (status !== 200) throw new Error(`a page was answered with ${status}`);
      bytes += body.length;
      const end = `${body.subarray(-END_BYTES)}`;
      cursor = end.includes('"has_more":true') ? /"cursor":"([^"]+)"/.exec(end)[1] : undefined;
    }
  } catch (error) {
    client.close();
    throw error;
  }
  client.end();
  return bytes;
}

/**
 * Sends polls of all keys in turn at fixed times, each on a connection of its own, as fleets do whose polls are further
 * apart than the time that the hub keeps an idle connection.
 * @returns their latencies in milliseconds
 */
async function poll(
  { url, keys = [undefined], path = `${UPDATES}?since=2999-01-01T00:00:00Z` },
  { perSecond, seconds },
) {
  const latencies = [];
  let failure;
  const send = async (key) => {
    const client = createClient({ url });
    try {
      const { status, latency } = await client.send({ path, key });
      if (status !== 200) throw new Error(`a poll was answered with ${status}`);
      latencies.push(latency);
    } catch (error) {
      failure ??= error;
    } finally {
      client.close();
    }
  };
  const polls = [];
  const started = performance.now();
  for (let count = 0; count < perSecond * seconds; count += 1) {
    polls.push(send(keys.at(-1 - (count % keys.length))));
    await delay(Math.max(0, started + (1000 * (count + 1)) / perSecond - performance.now()));
  }
  await Promise.all(polls);
  if (failure !== undefined) throw failure;
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

/** The CPU time of a hub for a sync of a fleet, in milliseconds. @throws if the sync is incomplete */
export async function cpuOfSync(hub, key) {
  const before = hub.cpu();
  if ((await sync(hub, key)) < hub.templates * 100) throw new Error('the sync is incomplete');
  return hub.cpu() - before;
}

/**
 * @returns the CPU time of the hub in milliseconds for the first sync after its start and for a
 * later one, the p99 of polls in milliseconds without syncs and beside eight of them, and the
 * longest block of the event loop beside these
 */
export async function measureFirstSyncs(hub) {
  const firstMs = await cpuOfSync(hub, hub.keys[0]);
  const laterMs = await cpuOfSync(hub, hub.keys[1]);
  await p99OfPolls(hub); // a warm-up
  const idle = await p99OfPolls(hub);
  const fleets = startFleets();
  try {
    const syncing = fleets.run({ task: 'syncs', url: hub.url, keys: hub.keys.slice(2, 10) });
    await p99OfPolls(hub); // a warm-up
    await longestBlock(hub);
    const busy = await p99OfPolls(hub);
    const block = await longestBlock(hub);
    fleets.stopSyncs();
    await syncing;
    return { firstMs, laterMs, idle, busy, block };
  } finally {
    await fleets.end();
  }
}
