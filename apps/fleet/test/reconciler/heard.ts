import { newSecretToken } from '@svc/auth';
import { createCaller } from '../secrets/caller.ts';
import type { Canary } from '../secrets/forms.ts';
import { eventually } from './words.ts';

/** Secrets that are to be found nowhere, as they are made. */
export function anAviary() {
  const canaries: Canary[] = [];
  const keep = <T extends Canary['value']>(name: string, value: T): T => {
    canaries.push({ name, value });
    return value;
  };
  const aCanary = (name: string): string =>
    keep(name, `${name.replaceAll(' ', '-')}-${newSecretToken('svcm_').slice(5)}`);
  return { canaries: canaries as readonly Canary[], keep, aCanary };
}

/** Asks a fleet as somebody, and keeps each answer. */
export function listenTo(url: string, as: string) {
  const { call } = createCaller(url);
  const answers: string[] = [];
  const heard = async (method: string, path: string, body?: object) => {
    const answer = await call(method, `/api/v1/${path}`, body ? { as, body } : { as });
    answers.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  };
  const shown = async (id: string) => (await heard('GET', `deployments/${id}`)).body.deployment;
  return {
    answers: answers as readonly string[],
    heard,
    shown,
    /** Waits until what was asked for last has come to this. */
    is: async (id: string, phase: string, reason: string | null = null) => {
      let seen: Awaited<ReturnType<typeof shown>>;
      const isSo = () => seen.phase === phase && seen.reason === reason && seen.generation === seen.observed_generation;
      await eventually(`it is ${phase}`, async () => {
        seen = await shown(id);
        return isSo();
      }).catch((cause) => {
        throw new Error(`${cause.message}, but ${seen.name} is ${seen.phase}, ${seen.reason}: ${seen.message}`);
      });
    },
    /** A deployment of a workload of its own. */
    deployed: async (name: string, spec: object, given: object = {}) => {
      const workload = await heard('POST', 'workloads', { name, ...spec });
      const body = { name, workload_id: workload.body.workload.id, ...given };
      const made = await heard('POST', 'deployments', body);
      expect(made.status).toBe(201);
      return String(made.body.deployment.id);
    },
    /** Everything that there is to be read of deployments. */
    readAll: async (ids: readonly string[]) => {
      for (const id of ids) {
        for (const part of ['', '/events?limit=100', '/manifest', '/revisions'])
          await heard('GET', `deployments/${id}${part}`);
      }
      const lists = ['secrets', 'workloads', 'deployments', 'storage', 'hosts', 'clusters', 'audit'];
      for (const list of lists) await heard('GET', list);
    },
  };
}
