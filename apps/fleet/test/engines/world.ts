import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { freePort } from '@svc/testing';
import { engineKind, startEngine, type TestEngine } from '@svc/testing/engine';
import { connectDocker, type DockerClient } from '../../src/engines/docker/client.ts';
import type { DesiredContainers, RunningContainers } from '../../src/engines/docker/containers.ts';
import { reconcile } from '../../src/engines/docker/reconcile.ts';
import type { Observation } from '../../src/engines/observation.ts';
import { type DockerManifest, renderDocker } from '../../src/render/docker.ts';
import type { Rendering } from '../../src/render/rendering.ts';
import { aHost, aRendering, aSpec } from '../render/renderings.ts';
import { SHORT_TIMINGS } from '../timings.ts';

export interface Machine {
  readonly podman: TestEngine;
  readonly client: DockerClient;
}

/** Starts an engine before the tests of a describe block, and stops it after them. */
export function aMachine(options: () => Promise<Parameters<typeof startEngine>[0]> = async () => ({})): () => Machine {
  let machine: Machine | undefined;
  beforeAll(async () => {
    const podman = await startEngine(await options());
    machine = {
      podman,
      client: connectDocker(
        { engine: podman.kind, endpoint: podman.endpoint, credentials: null },
        SHORT_TIMINGS.reconciler.docker,
      ),
    };
  });
  afterAll(async () => {
    await machine?.client.close();
    await machine?.podman.stop();
  });
  return () => {
    if (!machine) throw new Error('the engine has not started');
    return machine;
  };
}

/** A script that runs until it is stopped. */
export const SLEEP = "trap 'exit 0' TERM; sleep 1000 & wait";
/**
 * A script that serves its variables and the number of its starts at port 8080. It stores the
 * number in /data.
 */
export const SERVE = [
  "trap 'exit 0' TERM",
  'mkdir -p /www /data; echo start >> /data/starts',
  'cat /data/starts > /www/starts; echo "$GREETING $PASSWORD" > /www/index.html; echo ready',
  'httpd -f -p 8080 -h /www & wait',
].join('\n');

/** A workload that runs a script in the test image. */
export const aScript = (script: string, given: Partial<WorkloadSpec> = {}): WorkloadSpec =>
  aSpec({
    registry_url: 'localhost',
    image_name: 'svc-test/busybox',
    image_tag: '1',
    command: ['/bin/sh', '-c', script],
    ...given,
  });

type Given = Partial<Omit<Rendering<'values'>, 'spec'>>;

/** A deployment with its own id. `manifest` renders it with changes. */
export async function aDeployment(spec: WorkloadSpec, first: Given = {}) {
  const id = randomUUID();
  const ports = new Map<string, number>();
  const manifest = async (
    given: Given = {},
    changed: Partial<WorkloadSpec> = {},
  ): Promise<DockerManifest<'values'>> => {
    const rendering = aRendering({ ...spec, ...changed }, { id, ...first, ...given });
    const host = aHost(rendering, engineKind());
    for (const [ordinal, all] of host.ports.entries()) {
      for (const { containerPort } of all) {
        const key = `${ordinal} ${containerPort}`;
        ports.set(key, ports.get(key) ?? (await freePort()));
      }
    }
    const allocated = host.ports.map((all, ordinal) =>
      all.map((port) => ({
        ...port,
        hostPort: ports.get(`${ordinal} ${port.containerPort}`) ?? 0,
        addresses: ['127.0.0.1'],
      })),
    );
    return renderDocker(rendering, { ...host, ports: allocated });
  };
  const fence = (generation = 7) => ({ deploymentId: id, generation });
  return { id, manifest, fence, name: (ordinal = 0) => `web-${id.slice(-8)}-${ordinal}` };
}

export type Deployment = Awaited<ReturnType<typeof aDeployment>>;

/** The desired state of a running deployment with the manifest. */
export const running = (
  manifest: DockerManifest<'values'>,
  more: Partial<RunningContainers> = {},
): RunningContainers => ({
  kind: 'running',
  manifest,
  addresses: {},
  ...more,
});

interface Until {
  readonly wanted: DesiredContainers;
  readonly fence: Parameters<typeof reconcile>[2];
  readonly isThere: (observation: Observation) => boolean;
}

const MAX_RECONCILIATIONS = 300;

/**
 * Reconciles until the observation is as expected. @returns the observation, with the actions of
 * all reconciliations
 */
export async function reconcileUntil(client: DockerClient, { wanted, fence, isThere }: Until) {
  const actions: string[] = [];
  for (let left = MAX_RECONCILIATIONS; ; left -= 1) {
    const observation = await reconcile(client, wanted, fence);
    actions.push(...observation.actions);
    if (isThere(observation)) return { ...observation, actions };
    if (left === 0)
      throw new Error(
        `the expected state was not reached after ${MAX_RECONCILIATIONS} reconciliations: ${JSON.stringify(observation)}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Reconciles until the deployment is in a phase and nothing changes soon. */
export const reconcileTo = (
  client: DockerClient,
  o: Omit<Until, 'isThere'> & { readonly phase: Observation['phase'] },
): Promise<Observation> =>
  reconcileUntil(client, { ...o, isThere: ({ phase, next }) => phase === o.phase && next !== 'soon' });

/** The ids of the containers of a deployment, by name. */
export async function idsOf({ podman }: Machine, { id }: Deployment): Promise<Record<string, string>> {
  const filter = ['--filter', `label=fleet/deployment=${id}`];
  const lines = await podman.byHand('ps', '--all', '--no-trunc', ...filter, '--format', '{{.Names}} {{.ID}}');
  return Object.fromEntries(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ')),
  );
}
