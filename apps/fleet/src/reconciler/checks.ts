import { inRounds, type Rounds } from '@svc/http';
import type { Database } from '../database/client.ts';
import { check, type Facts } from '../engines/docker/check.ts';
import { EngineFailure } from '../engines/errors.ts';
import type { Host } from '../generated/prisma/client.ts';
import { clearDeparted } from './departed.ts';
import type { Tools } from './hosts.ts';
import type { Claim } from './queue.ts';

const CHECK_SECONDS = 30;
const MOST_SECONDS = 60;
const IDLE_MS = 1000;
/** How many are asked at once by one process: one that does not answer holds up no other. */
const AT_ONCE = 32;

/** Asks every host twice a minute whether it is there, one that is away less often; replicas share the work. */
export function keepChecking(tools: Tools): Rounds {
  const { database, log } = tools;
  const underWay = new Set<Promise<void>>();
  const ask = (host: Host) => {
    const asked = checkHost(tools, host)
      .catch((error) => log.warn({ err: error, host: host.name }, 'what a host says could not be kept'))
      .finally(() => underWay.delete(asked));
    underWay.add(asked);
  };
  const rounds = inRounds(0, async () => {
    try {
      for (const host of await claimHosts(database, AT_ONCE - underWay.size)) ask(host);
    } catch (error) {
      log.warn({ err: error }, 'hosts could not be checked');
    }
    return IDLE_MS;
  });
  return {
    stop: async () => {
      await rounds.stop();
      await Promise.all(underWay);
    },
  };
}

/** Hosts whose time has come; nobody else asks them meanwhile. */
const claimHosts = ({ client }: Database, most: number): Promise<Host[]> =>
  client.$queryRaw<Host[]>`
    UPDATE hosts SET check_at = now() + make_interval(secs => ${CHECK_SECONDS})
    WHERE id = ANY (ARRAY(SELECT id FROM hosts WHERE check_at <= now() ORDER BY check_at LIMIT ${most} FOR UPDATE SKIP LOCKED))
    RETURNING *`;

/** Asks one host now, and keeps what it says. */
export async function checkHost(tools: Tools, host: Host): Promise<void> {
  const { database, engines, log } = tools;
  const since = Date.now();
  try {
    await noteThere(database, host, await check(await engines.of(host)));
  } catch (error) {
    if (!(error instanceof EngineFailure)) log.warn({ err: error, host: host.name }, 'a host could not be checked');
    const message =
      error instanceof EngineFailure ? error.message : 'It could not be checked: the fleet’s log says why.';
    await noteAway(database, host, { message, since });
    return;
  }
  await clearDeparted(tools, host);
}

/** Whatever waits for a host that is back is due at once. The endpoint is still the one that was asked. */
async function noteThere({ client }: Database, { id, endpoint, reachability }: Host, facts: Facts): Promise<void> {
  const { engine_version, arch, cpu_millis, memory_bytes } = facts;
  await client.$executeRaw`
    UPDATE hosts SET reachability = 'online', last_seen_at = now(), message = '', check_failures = 0,
      engine_version = ${engine_version}, arch = ${arch}, cpu_millis = ${cpu_millis}, memory_bytes = ${memory_bytes}
    WHERE id = ${id}::uuid AND endpoint = ${endpoint}`;
  if (reachability !== 'online') {
    await client.$executeRaw`UPDATE deployments SET due_at = now() WHERE host_id = ${id}::uuid AND due_at > now()`;
  }
}

interface Away {
  readonly message: string;
  /** When it began to be asked: who has seen it since knows better, also after this process was frozen for a while. */
  readonly since: number;
}

/** A host that is away changes nothing of what runs there: deployments keep their phase. */
const noteAway = ({ client }: Database, { id, endpoint }: Host, { message, since }: Away) =>
  client.$executeRaw`
    UPDATE hosts SET reachability = 'unreachable', message = ${message}, check_failures = check_failures + 1,
      check_at = now() + make_interval(secs => least(${MOST_SECONDS}, power(2, least(check_failures, 10))) * (0.8 + 0.4 * random()))
    WHERE id = ${id}::uuid AND endpoint = ${endpoint}
      AND coalesce(last_seen_at < now() - make_interval(secs => ${(Date.now() - since) / 1000}), true)`;

/** A worker has missed a host: it is asked at once whether it is away. The word of a worker without a lease is none. */
export const askAtOnce = ({ client }: Database, host: Pick<Host, 'id'>, { id, owner }: Claim) =>
  client.$executeRaw`
    UPDATE hosts SET check_at = now() WHERE id = ${host.id}::uuid AND reachability = 'online' AND check_at > now()
      AND EXISTS (SELECT FROM deployments
                  WHERE id = ${id}::uuid AND lease_owner = ${owner}::uuid AND lease_until > now())`;
