import type { Call } from '../../../../../../infra/cluster/lab/caller.mjs';

/** Requests to the API server as an administrator. A status of 300 and above is an error, except 404 of a deletion. */
export interface Kube {
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the members of objects that they use
  (method: string, path: string, body?: object, type?: string): Promise<any>;
  /** Without this error. */
  readonly ask: Call;
}

export const MERGE = 'application/merge-patch+json';

/** Requests with a caller. */
export function kubeOf(ask: Call): Kube {
  const kube = async (method: string, path: string, body?: object, type?: string) => {
    const answer = await ask(method, path, body, type);
    const isGone = method === 'DELETE' && answer.status === 404;
    if (answer.status >= 300 && !isGone)
      throw new Error(`${method} ${path} responded with ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return Object.assign(kube, { ask });
}
