import { request } from 'node:https';
import { NAMESPACE } from '../api-server/cluster.ts';
import type { Stored } from '../api-server/objects.ts';

/** An API server, real or simulated. By default, the namespace is that of the simulated one. */
interface Scaled {
  readonly url: string;
  /** Its CA certificate. */
  readonly ca: string;
  readonly token: string;
  readonly namespace?: string;
}

interface Answer {
  readonly status: number;
  readonly body: Stored;
}

interface Asked {
  readonly method: 'GET' | 'PUT' | 'PATCH';
  readonly agent: string;
  readonly type?: string;
  readonly body?: object;
}

/** A request to the subresource `scale` of a Deployment. */
const ask = (
  { url, ca, token, namespace = NAMESPACE }: Scaled,
  name: string,
  { method, agent, type, body }: Asked,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const target = new URL(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}/scale`, url);
    const headers = {
      authorization: `Bearer ${token}`,
      'user-agent': agent,
      'content-type': type ?? 'application/json',
    };
    const sent = request(target, { method, headers, ca, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });

/** A number of replicas that a program has set, and the resource version of the Deployment with it. */
export interface Written {
  readonly replicas: number;
  readonly version: number;
}

const writtenIn = ({ body: { metadata, spec } }: Answer): Written => ({
  replicas: Number(spec?.replicas),
  version: Number(metadata.resourceVersion),
});

/** Scales as `kubectl scale` does. */
export async function kubectlScale(server: Scaled, name: string, replicas: number): Promise<Written> {
  const type = 'application/merge-patch+json';
  const answer = await ask(server, name, {
    method: 'PATCH',
    agent: 'kubectl/v1.33.1',
    type,
    body: { spec: { replicas } },
  });
  if (answer.status !== 200) throw new Error(`the response is ${answer.status}: ${JSON.stringify(answer.body)}`);
  return writtenIn(answer);
}

/** Scales as the autoscaler of a cluster does, which begins again if the Deployment was changed. */
export async function autoscale(server: Scaled, name: string, replicas: number): Promise<Written> {
  const agent = 'kube-controller-manager/v1.33.1';
  const { body } = await ask(server, name, { method: 'GET', agent });
  const answer = await ask(server, name, { method: 'PUT', agent, body: { ...body, spec: { replicas } } });
  if (answer.status === 409) return autoscale(server, name, replicas);
  if (answer.status !== 200) throw new Error(`the response is ${answer.status}: ${JSON.stringify(answer.body)}`);
  return writtenIn(answer);
}

/** The number that was set last. */
export const lastOf = (all: readonly Written[]): number =>
  all.toSorted((one, other) => other.version - one.version)[0]?.replicas ?? Number.NaN;
