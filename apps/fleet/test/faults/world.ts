import type { FleetTimings } from '../../src/app.ts';
import { mirrorIn } from '../catalog/mirror.ts';
import { startFakeHub } from '../fake-hub.ts';
import { startProcessWorld } from '../process-world.ts';
import { SHORT_TIMINGS } from '../timings.ts';
import { anAdminToken } from './identity-world.ts';

/** Processes of the fleet on one database, with one hub. They sync only on request. */
export async function startFaultWorld(timings: FleetTimings = SHORT_TIMINGS) {
  const world = await startProcessWorld({ isMigrated: true, timings });
  const hub = await startFakeHub();
  const token = await anAdminToken(world.database.url);
  const settings = { HUB_URL: hub.url, HUB_API_KEY: hub.key, HUB_SYNC_INTERVAL: '0' };

  /** Starts a fleet process. @returns the process when it is ready */
  const aReplica = async () => {
    const fleet = await world.startFleet(settings);
    const ask = async (method: 'GET' | 'POST', path: string, body?: object) => {
      const answer = await fetch(`${fleet.url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      // biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of a body, and fails otherwise
      return { status: answer.status, body: (await answer.json()) as any };
    };
    return {
      ...fleet,
      ask,
      sync: (body = {}) => ask('POST', '/api/v1/catalog/sync', body),
      kill: async () => {
        fleet.child.kill('SIGKILL');
        await fleet.ended;
      },
    };
  };

  return {
    hub,
    aReplica,
    query: world.query,
    mirror: mirrorIn(world.query),
    endAll: world.endAll,
    stop: async () => {
      await world.endAll();
      await hub.stop();
      await world.database.drop();
    },
  };
}
