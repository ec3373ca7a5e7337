import { inRounds, type Rounds } from '@svc/http';
import { KEYS } from '../../render/labels.ts';
import type { Client } from './cluster-client.ts';
import { Watch } from './watching.ts';

const WATCHED = ['/apis/apps/v1/{}/deployments', '/apis/batch/v1/{}/jobs', '/api/v1/{}/pods'];

/**
 * Tells which deployments something has changed of in a cluster, until stopped. It only makes things quicker: what is
 * missed while a connection is broken, nobody need hear of.
 */
export function keepWatching(client: Client, changed: (deploymentId: string) => void): Rounds {
  const ending = new AbortController();
  const view = client.within(ending.signal);
  const tell = (labels: Readonly<Record<string, string>>) => {
    const id = labels[KEYS.deployment];
    if (id !== undefined && !ending.signal.aborted) changed(id);
  };
  const all = WATCHED.map((path) => {
    const watch = new Watch(view, path.replace('{}', `namespaces/${client.address.namespace}`), tell);
    return inRounds(0, () => watch.round());
  });
  return {
    stop: async () => {
      ending.abort();
      await Promise.all(all.map((rounds) => rounds.stop()));
    },
  };
}
