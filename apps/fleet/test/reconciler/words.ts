import { setTimeout as pause } from 'node:timers/promises';
import type { Answered, Api } from '@svc/testing';

/** What a test says of something. */
export type Body = Readonly<Record<string, unknown>>;

const PATIENCE_MS = 60_000;
const BETWEEN_MS = 40;

/** Looks until there is something to see. @throws after a minute, with what was waited for, and what was seen last */
export async function eventually<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await pause(BETWEEN_MS)) {
    const seen = await look();
    if (seen) return seen;
  }
  throw new Error(`still not after ${PATIENCE_MS / 1000} s: ${what}`);
}

/** What tests say of deployments, whatever they run on. */
export function wordsOf(api: Api) {
  const good = async (asked: Promise<Answered>) => {
    const answer = await asked;
    if (answer.status >= 300) throw new Error(`answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };

  const aWorkload = async (name: string, given: Body) =>
    (await good(api.post('/api/v1/workloads', { name, ...given }))).workload;
  /** A deployment of a workload of its own. */
  const deployed = async (name: string, workload: Body, given: Body = {}) => {
    const { id } = await aWorkload(name, workload);
    return (await good(api.post('/api/v1/deployments', { name, workload_id: id, ...given }))).deployment;
  };
  const deployment = async (id: string) => (await good(api.get(`/api/v1/deployments/${id}`))).deployment;
  /** Waits until what was asked for last has come to this. */
  const deploymentIs = async (id: string, phase: string, reason: string | null = null) => {
    let seen = await deployment(id);
    const isSo = () => seen.phase === phase && seen.reason === reason && seen.observed_generation === seen.generation;
    await eventually(`${seen.name} is ${phase}`, async () => {
      seen = await deployment(id);
      return isSo();
    }).catch((cause) => {
      throw new Error(`${cause.message}, but ${JSON.stringify(seen)}`);
    });
    return seen;
  };
  /** What engines did to it and came to, in words, the first at the beginning. */
  const events = async (id: string): Promise<string[]> =>
    (await good(api.get(`/api/v1/deployments/${id}/events?limit=100`))).events
      .reverse()
      .map(({ reason, message }: Record<string, string>) => `${reason}: ${message}`);
  const ask = async (id: string, operation: string, body: Body = {}) =>
    (await good(api.post(`/api/v1/deployments/${id}/${operation}`, body))).deployment;
  const removed = async (id: string) => {
    await good(api.delete(`/api/v1/deployments/${id}`));
    await eventually('the deployment is gone', async () => {
      const { status } = await api.get(`/api/v1/deployments/${id}`);
      return status === 404;
    });
  };

  return { good, aWorkload, deployed, deployment, deploymentIs, events, ask, removed };
}
