// Two processes of the fleet, and a simulated host. The process that takes a step is killed when the step has an effect. Another one
// continues.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually, figure } from '@svc/testing';
import { ask } from '@svc/testing/faults';
import pg from 'pg';
import { startFakeHub } from '../../fake-hub.ts';
import { startChaosProcesses } from '../chaos/processes.ts';
import { startProxy } from '../proxy.ts';
import type { ProxyFault } from '../proxy-faults.ts';
import { aSimulatedHost } from '../simulated-host.ts';

const NAMES = ['a', 'b'];

/** The lock for which each step waits in its transaction, and how a process that waits is found. */
const STEP_LOCK = 4711;
const WAITS_AS = 'step of ';

/**
 * A trigger that lets a transaction of a process wait. It names the process in `pg_stat_activity`. `condition` is one of SQL on the
 * old and the new row.
 */
export const stepsOf = (table: string, condition: string) => `
  CREATE FUNCTION step_of_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('fire.process', true) IS NOT NULL AND (${condition}) THEN
      PERFORM set_config('application_name', '${WAITS_AS}' || current_setting('fire.process'), true);
      PERFORM pg_advisory_xact_lock_shared(${STEP_LOCK});
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER step_of_${table} AFTER UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION step_of_${table}();`;

const LOOK_MS = 10;

/** Starts the processes. `steps` are statements of `stepsOf`. */
export async function startKills(steps: readonly string[]) {
  const host = await aSimulatedHost();
  const hub = await startFakeHub();
  const { port, hostname } = new URL(host.endpoint.replace('tcp:', 'http:'));
  const proxy = await startProxy({
    createServer,
    listen: (server) => server.listen(0, '127.0.0.1'),
    ask: ({ method, path, headers }) => request({ hostname, port, path, method, headers, agent: false }),
    isStream: (path) => path.includes('/events?'),
    refusal: () => ({ status: 500, body: { message: 'out of order' } }),
  });
  const environment = {
    OUTBOUND_ALLOW: 'http,loopback',
    HUB_URL: hub.url,
    HUB_API_KEY: hub.key,
    HUB_SYNC_INTERVAL: '0',
  };
  const processes = await startChaosProcesses({ environment, names: NAMES });
  const { query, made, databaseUrl } = processes;
  for (const statement of steps) await query(statement);
  const endpoint = `tcp://127.0.0.1:${(proxy.server.address() as AddressInfo).port}`; // it listens on a port
  await made('hosts', { name: 'machine', engine: 'docker', endpoint });
  await eventually('the host is online', async () => {
    const [row] = await query('SELECT reachability FROM hosts');
    return row.reachability === 'online';
  });

  const killed = new Set<string>();
  const replacements = new Map<number, Promise<void>>();

  /** Kills a process, and starts another one. Resolves when it has ended. */
  const kill = async (process: string) => {
    if (killed.has(process)) return;
    killed.add(process);
    const index = NAMES.findIndex((name) => process.startsWith(name));
    await replacements.get(index); // a process can work before it is known here
    await processes.kill(index);
    replacements.set(index, processes.replace(index));
  };

  /** Kills the process that sends a request which changes something on the host. The host fulfils the request. */
  const killAtRequests = () => {
    let count = 0;
    const killHolder = async () => {
      const rows = await query(
        'SELECT c.process FROM deployments d JOIN fire_claims c ON c.owner = d.lease_owner WHERE d.lease_until > now()',
      );
      for (const { process } of rows) await kill(process);
      proxy.releaseLate();
    };
    const killing: Promise<void>[] = [];
    proxy.setFault((asked): ProxyFault => {
      if (asked.startsWith('GET ')) return 'passed';
      count += 1;
      killing.push(killHolder());
      return 'late';
    });
    return async () => {
      proxy.setFault(() => 'passed');
      await Promise.all(killing);
      return count;
    };
  };

  /** Kills the process that makes a step in the database, when its transaction is committed. */
  const killAtSteps = async () => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const lock = () => client.query('SELECT pg_advisory_lock($1)', [STEP_LOCK]);
    const unlock = () => client.query('SELECT pg_advisory_unlock($1)', [STEP_LOCK]);
    await lock();
    let isOver = false;
    let count = 0;
    const watch = async () => {
      for (; !isOver; await pause(LOOK_MS)) {
        const { rows } = await client.query<{ process: string }>(
          `SELECT substr(application_name, $1) AS process FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name LIKE $2`,
          [WAITS_AS.length + 1, `${WAITS_AS}%`],
        );
        for (const { process } of rows) {
          count += 1;
          await unlock();
          await lock(); // when the transaction has ended
          await kill(process);
        }
      }
    };
    const watching = watch();
    return async () => {
      isOver = true;
      await watching;
      await client.end();
      return count;
    };
  };

  /** Sends a request to one of the processes. @returns the response; status 0 if it does not run */
  const send = (method: string, path: string, body?: object) =>
    ask(`${processes.url()}/api/v1/${path}`, {
      method,
      authorization: `Bearer ${processes.secret}`,
      ...(body && { body }),
    });

  /** Repeats a request until it has succeeded. @returns the body of the response */
  const sent = async (method: string, path: string, body?: object) => {
    const isGood = ({ status }: { readonly status: number }) => status >= 200 && status < 300;
    return (await eventually(`${method} ${path} succeeds`, () => send(method, path, body), { until: isGood })).body;
  };

  return {
    ...processes,
    host,
    hub,
    send,
    sent,
    /** Creates a resource. A busy machine can reject the request with 503. */
    made: async (path: string, body: object): Promise<{ readonly id: string }> => {
      const [resource] = Object.values((await sent('POST', path, body)) as Record<string, { readonly id: string }>); // see the contract
      return resource ?? { id: '' };
    },
    /**
     * Does some work while processes are killed at each step in the database, and at each request if these are steps too. Resolves
     * when all processes run again. @returns the number of kills
     */
    whileKilled: async (work: () => Promise<unknown>, { atRequests }: { readonly atRequests: boolean }) => {
      const before = killed.size;
      const endRequests = atRequests ? killAtRequests() : async () => 0;
      const endSteps = await killAtSteps();
      const [worked] = await Promise.allSettled([work()]);
      // Both end, so that the next test can lock the steps.
      const ends = await Promise.allSettled([endRequests(), endSteps()]);
      for (const result of [worked, ...ends]) if (result.status === 'rejected') throw result.reason;
      await Promise.all(replacements.values());
      const [requests, steps] = ends.map((end) => end.status === 'fulfilled' && end.value);
      figure(`killed at ${JSON.stringify({ requests, steps })}`);
      return killed.size - before;
    },
    stop: async () => {
      await processes.stop();
      await proxy.stop();
      await host.stop();
      await hub.stop();
    },
  };
}
