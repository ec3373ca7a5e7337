import type { FleetRole } from '@svc/contract/fleet';
import { startDeploymentWorld } from '../deployments/world.ts';
import { listen } from '../raw.ts';
import type { TestToken } from '../world.ts';
import { messagesTo } from './client.ts';

/** A fleet that listens on a port, with a token of each role. It stops after the test file. */
export async function startMcpWorld() {
  const deploymentWorld = await startDeploymentWorld({ kept: true });
  const { client } = deploymentWorld.world.database;
  const fleet = await listen(deploymentWorld.world.app);
  afterAll(() => fleet.close());
  const aToken = (role: FleetRole) => deploymentWorld.world.aToken({ role });
  const tokens: Readonly<Record<FleetRole, TestToken>> = {
    viewer: await aToken('viewer'),
    operator: await aToken('operator'),
    admin: await aToken('admin'),
  };
  return {
    ...deploymentWorld,
    ...messagesTo(fleet.url),
    url: fleet.url,
    tokens,
    /** The rows that calls of tools can change. */
    stored: () => client.$queryRaw`
      SELECT (SELECT json_agg(d ORDER BY id) FROM deployments d) AS deployments,
             (SELECT json_agg(h ORDER BY id) FROM hosts h) AS hosts,
             (SELECT json_agg(w ORDER BY id) FROM workloads w) AS workloads,
             (SELECT json_agg(v ORDER BY id) FROM volumes v) AS volumes`,
    /**
     * The audit entries of a token: those of its requests, and those of the operations that they
     * performed.
     */
    entriesOf: async ({ id }: TestToken) => {
      const entries = await client.auditEntry.findMany({
        where: { token_id: id },
        orderBy: [{ at: 'asc' }, { id: 'asc' }],
      });
      return { requests: entries.filter(({ part }) => !part), parts: entries.filter(({ part }) => part) };
    },
  };
}
