import { inRounds, type Rounds } from '@svc/http';
import { check as checkHost } from '../engines/docker/check.ts';
import { EngineFailure, Transient, Unreachable } from '../engines/errors.ts';
import { check as checkCluster } from '../engines/kubernetes/check.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { keepCluster } from './cluster-facts.ts';
import { clearDeparted } from './departed.ts';
import type { Place, Tools } from './places.ts';
import { claimPlaces, noteAway, noteThere } from './reachability.ts';

/** How many are asked at once by one process: one that does not answer holds up no other. */
const AT_ONCE = 32;

/** Checks each host and cluster at its interval until stopped. Replicas share the work. */
export function keepChecking(tools: Tools): Rounds {
  const { database, log, timings } = tools;
  const underWay = new Set<Promise<void>>();
  const ask = (place: Place) => {
    const asked = checkPlace(tools, place)
      .catch((error) => log.warn({ err: error, [place.kind]: place.row.name }, 'what it says could not be kept'))
      .finally(() => underWay.delete(asked));
    underWay.add(asked);
  };
  const rounds = inRounds(0, async () => {
    try {
      const due = { most: AT_ONCE - underWay.size, interval: timings.check };
      for (const place of await claimPlaces(database, due)) ask(place);
    } catch (error) {
      log.warn({ err: error }, 'hosts and clusters could not be checked');
    }
    return timings.checkIdle;
  });
  return {
    stop: async () => {
      await rounds.stop();
      await Promise.all(underWay);
    },
  };
}

/** Asks a place now, and keeps what it says. */
export async function checkPlace(tools: Tools, place: Place): Promise<void> {
  const { database, log, timings } = tools;
  const since = Date.now();
  try {
    await askAndKeep(tools, place);
  } catch (error) {
    const isTold = error instanceof EngineFailure;
    if (!isTold) log.warn({ err: error, [place.kind]: place.row.name }, 'it could not be checked');
    const message = isTold ? error.message : 'It could not be checked: the fleet’s log says why.';
    await noteAway(database, place, { message, since, timings });
    return;
  }
  await clearDeparted(tools, place);
}

async function askAndKeep({ database, hosts, clusters }: Tools, place: Place): Promise<void> {
  if (place.kind === 'cluster') {
    const facts = await unlessHalfTold(checkCluster(await clusters.of(place.row)));
    if (facts) return keepCluster(database, place, facts);
    await noteThere(database.client, place, Prisma.sql`conditions = conditions`);
    return;
  }
  const { engine_version, arch, cpu_millis, memory_bytes } = await checkHost(await hosts.of(place.row));
  const facts = Prisma.sql`engine_version = ${engine_version}, arch = ${arch}, cpu_millis = ${cpu_millis}, memory_bytes = ${memory_bytes}`;
  await noteThere(database.client, place, facts);
}

/** What a cluster says; undefined where it answers, and one of its answers is that something went wrong in it just now. */
async function unlessHalfTold<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof Transient && !(error instanceof Unreachable)) return undefined;
    throw error;
  }
}
