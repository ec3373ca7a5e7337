import { type Answered, type Api, eventually } from '@svc/testing';
import type { Database } from '../../src/database/client.ts';

/** The body of a request. */
export type Body = Readonly<Record<string, unknown>>;

interface World {
  readonly asAdmin: Api;
  readonly database: Database;
}

/**
 * Helpers for tests of deployments on any kind of target. They make changes through the API, and
 * wait for rows.
 */
export function deploymentHelpers({ asAdmin: api, database: { client } }: World) {
  const good = async (asked: Promise<Answered>) => {
    const answer = await asked;
    if (answer.status >= 300) throw new Error(`response ${answer.status}: ${answer.text}`);
    return answer.body;
  };

  const aWorkload = async (name: string, given: Body) =>
    (await good(api.post('/api/v1/workloads', { name, ...given }))).workload;
  /** Creates a deployment with its own workload. */
  const deployed = async (name: string, workload: Body, given: Body = {}) => {
    const { id } = await aWorkload(name, workload);
    return (await good(api.post('/api/v1/deployments', { name, workload_id: id, ...given }))).deployment;
  };
  const deployment = async (id: string) => (await good(api.get(`/api/v1/deployments/${id}`))).deployment;
  /** Waits until the phase and the reason are as given and belong to the latest generation. */
  const deploymentIs = async (id: string, phase: string, reason: string | null = null) => {
    const isSo = (seen: {
      phase: string;
      reason: string | null;
      generation: number;
      observed_generation: number | null;
    }) => seen.phase === phase && seen.reason === reason && seen.observed_generation === seen.generation;
    await eventually(`the deployment is ${phase}`, () => client.deployment.findUniqueOrThrow({ where: { id } }), {
      until: isSo,
    });
    return eventually(`the API shows that the deployment is ${phase}`, () => deployment(id), {
      // The API also has a reason for a job that has completed.
      until: (seen) => isSo(seen) || (seen.reason === 'Completed' && isSo({ ...seen, reason: null })),
    });
  };
  /** The events of a deployment as text, the oldest first. */
  const events = async (id: string): Promise<string[]> =>
    (await good(api.get(`/api/v1/deployments/${id}/events?limit=100`))).events
      .reverse()
      .map(({ reason, message }: Record<string, string>) => `${reason}: ${message}`);
  const ask = async (id: string, operation: string, body: Body = {}) =>
    (await good(api.post(`/api/v1/deployments/${id}/${operation}`, body))).deployment;
  const removed = async (id: string) => {
    await good(api.delete(`/api/v1/deployments/${id}`));
    await eventually('the deployment is gone', async () => (await client.deployment.count({ where: { id } })) === 0);
  };

  return { good, aWorkload, deployed, deployment, deploymentIs, events, ask, removed };
}
