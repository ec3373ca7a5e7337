import { newSecretToken } from '@svc/auth';
import { eventually } from '@svc/testing';
import { createCaller } from '../secrets/caller.ts';
import type { Canary } from '../secrets/encoded-forms.ts';

/** Creates secrets, and stores them for a search. */
export function createCanaries() {
  const canaries: Canary[] = [];
  const keep = <T extends Canary['value']>(name: string, value: T): T => {
    canaries.push({ name, value });
    return value;
  };
  const aCanary = (name: string): string =>
    keep(name, `${name.replaceAll(' ', '-')}-${newSecretToken('svcm_').slice(5)}`);
  return { canaries: canaries as readonly Canary[], keep, aCanary };
}

/** Calls a fleet with a token, and stores each response. */
export function recordingClient(url: string, as: string) {
  const { call } = createCaller(url);
  const answers: string[] = [];
  const request = async (method: string, path: string, body?: object) => {
    const answer = await call(method, `/api/v1/${path}`, body ? { as, body } : { as });
    // The response to a change contains the values that it generates.
    const searched = method === 'GET' ? answer.body : { ...answer.body, generated: undefined };
    answers.push(`${method} ${path} ${answer.status} ${JSON.stringify(searched)}`);
    return answer;
  };
  const shown = async (id: string) => (await request('GET', `deployments/${id}`)).body.deployment;
  const aWorkload = async (name: string, spec: object): Promise<string> =>
    (await request('POST', 'workloads', { name, ...spec })).body.workload.id;
  /** @returns the id of the new deployment */
  const create = async (body: object) => {
    const made = await request('POST', 'deployments', body);
    expect(made).toMatchObject({ status: 201 });
    return String(made.body.deployment.id);
  };
  return {
    answers: answers as readonly string[],
    request,
    shown,
    /** Waits until the phase and the reason are as given and belong to the latest generation. */
    is: async (id: string, phase: string, reason: string | null = null) => {
      await eventually(`the deployment is ${phase}`, () => shown(id), {
        until: (seen) => seen.phase === phase && seen.reason === reason && seen.generation === seen.observed_generation,
      });
    },
    aWorkload,
    create,
    /** Creates a deployment with its own workload. @returns the id of the deployment */
    deployed: async (name: string, spec: object, given: object = {}) =>
      create({ name, workload_id: await aWorkload(name, spec), ...given }),
    /**
     * Reads everything that the API returns for the deployments, and the lists of the other
     * resources.
     */
    readAll: async (ids: readonly string[]) => {
      for (const id of ids) {
        for (const part of ['', '/events?limit=100', '/manifest', '/revisions'])
          await request('GET', `deployments/${id}${part}`);
      }
      const lists = ['secrets', 'workloads', 'deployments', 'storage', 'hosts', 'clusters', 'audit'];
      for (const list of lists) await request('GET', list);
    },
  };
}
