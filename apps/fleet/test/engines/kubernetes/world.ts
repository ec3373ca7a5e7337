import { randomUUID } from 'node:crypto';
import type { WorkloadSpec } from '@svc/contract/fleet';
import {
  type ClusterAddress,
  connectKubernetes,
  type KubernetesClient,
  type KubernetesTimings,
} from '../../../src/engines/kubernetes/client.ts';
import type { Running, Wanted } from '../../../src/engines/kubernetes/objects.ts';
import { pass } from '../../../src/engines/kubernetes/reconcile.ts';
import type { Observation } from '../../../src/engines/observation.ts';
import { type KubernetesManifest, renderKubernetes } from '../../../src/render/kubernetes.ts';
import type { Cluster } from '../../../src/render/pod.ts';
import type { Rendering } from '../../../src/render/rendering.ts';
import { aCluster, aRendering, aSpec, aVolume } from '../../render/renderings.ts';
import { type ApiServer, type ApiServerOptions, addressOf, startApiServer } from './api-server.ts';

/** What is to be ended after a test. */
export const ending: (() => Promise<void>)[] = [];

/** For afterEach: ends every server and client. */
export async function endAll(): Promise<void> {
  await Promise.all(ending.splice(0).map((end) => end()));
}

/** A cluster with nothing in it. */
export async function anApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const server = await startApiServer(options);
  ending.push(server.stop);
  return server;
}

/** A client that gives up soon. */
export function clientOf(
  server: ApiServer,
  given: Partial<ClusterAddress> = {},
  timing: Partial<KubernetesTimings> = {},
): KubernetesClient {
  const client = connectKubernetes(addressOf(server, given), { answer: 2000, change: 2000, settled: 1000, ...timing });
  ending.push(client.close);
  return client;
}

type Given = Partial<Omit<Rendering<'values'>, 'spec'>>;

/** A deployment with an id of its own: `manifest` renders it, each time with what is said anew. */
export function aDeployment(spec: Partial<WorkloadSpec> = {}, first: Given = {}, cluster: Partial<Cluster> = {}) {
  const id = randomUUID();
  const name = `web-${id.slice(-8)}`;
  const volumes = (spec.volume_mounts ?? []).map(({ name: mount }) =>
    aVolume({ mount, name: mount, id: randomUUID() }),
  );
  const manifest = (given: Given = {}, changed: Partial<WorkloadSpec> = {}): KubernetesManifest<'values'> =>
    renderKubernetes(
      aRendering(aSpec({ ...spec, ...changed }), { id, volumes, ...first, ...given }),
      aCluster(cluster),
    );
  const fence = (generation = 7) => ({ deploymentId: id, generation });
  return { id, name, manifest, fence, volumes: volumes.map((volume) => `${volume.name}-${volume.id.slice(-8)}`) };
}

/** A manifest with something else in the spec of one of its objects. */
export const altered = (
  manifest: KubernetesManifest<'values'>,
  kind: string,
  spec: object,
): KubernetesManifest<'values'> => ({
  ...manifest,
  objects: manifest.objects.map((object) =>
    object.kind === kind && 'spec' in object
      ? ({ ...object, spec: { ...object.spec, ...spec } } as typeof object)
      : object,
  ),
});

/** What a deployment is to be: running, as its manifest says. */
export const running = (manifest: KubernetesManifest<'values'>, more: Partial<Running> = {}): Running => ({
  kind: 'running',
  manifest,
  ...more,
});

interface To {
  readonly wanted: Wanted;
  readonly fence: Parameters<typeof pass>[2];
  readonly phase: Observation['phase'];
}

const MOST_PASSES = 12;

/** Passes, one after the other, until a deployment has come to rest in a phase; answers with all that was done, too. */
export async function passTo(client: KubernetesClient, { wanted, fence, phase }: To): Promise<Observation> {
  const actions: string[] = [];
  for (let left = MOST_PASSES; ; left -= 1) {
    const observed = await pass(client, wanted, fence);
    actions.push(...observed.actions);
    if (observed.phase === phase && observed.next !== 'soon') return { ...observed, actions };
    if (left === 0) throw new Error(`not in sight: ${JSON.stringify(observed)}`);
  }
}

const MOST_LOOKS = 500;

/** Waits until something is so. @throws Error where it never is */
export async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; !isSo(); looks += 1) {
    if (looks === MOST_LOOKS) throw new Error('it never was so');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
