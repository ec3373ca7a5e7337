import { setTimeout as pause } from 'node:timers/promises';
import { type Answered, eventually } from '@svc/testing';
import { createFleetAccount } from '../../../../../../infra/cluster/lab/roles.mjs';
import type { Body } from '../../deployment-helpers.ts';
import { aNamespace, type startFleetOn } from '../any-cluster.ts';
import type { Kube } from './kube.ts';
import type { Outcome } from './outcome.ts';

const [IMAGE = '', TAG = ''] = (process.env.FLEET_TEST_IMAGE ?? 'library/busybox:1.37').split(':');
export const WAIT = { withinMs: 240_000 } as const;
const SLEEP = 'echo ready; trap "exit 0" TERM; while true; do sleep 1; done';

/** A workload with a shell script. By default, the script runs until it is stopped. */
export const aProgram = (script = SLEEP, given: Body = {}): Body => ({
  image_name: IMAGE,
  image_tag: TAG,
  memory_request: '16Mi',
  command: ['/bin/sh', '-c', script],
  ...given,
});

/** A health check. */
export const checkedBy = (check: string): Body => ({
  env: [{ name: 'SVC_HEALTH_CHECK', value: check }],
});

interface PlaceGiven {
  /** The labels of the namespace: the policies of the test cluster. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Members of the cluster in the fleet. */
  readonly cluster?: Body;
  /** The token of the fleet. By default, that of a service account with the documented permissions. */
  readonly token?: string;
}

interface Context {
  readonly fleet: Awaited<ReturnType<typeof startFleetOn>>;
  readonly kube: Kube;
  readonly server: string;
  readonly ca: string;
  readonly token: string;
}

/** A namespace of the test cluster that is registered in the fleet. */
export type Place = ReturnType<typeof placeOf>;

export interface Places {
  /** Creates a namespace with an account of the fleet, and registers it. It is removed with `removeAll`. */
  readonly aPlace: (given?: PlaceGiven) => Promise<Place>;
  /** The token of an administrator of the cluster. */
  readonly adminToken: string;
  /** The body of a registration of the cluster. */
  readonly registration: (namespace: string, token: string, given?: Body) => Body;
  readonly aName: () => string;
}

export function createPlaces({ fleet, kube, server, ca, token: adminToken }: Context): Places {
  let count = 0;
  const aName = () => `s${++count}`;
  const registration = (namespace: string, token: string, given: Body = {}) => ({
    ...{ name: aName(), server, ca_certificate: ca, auth: { kind: 'token', token }, namespace },
    ...{ network_types: ['mesh', 'public'], ...given },
  });
  const aPlace = async ({ labels, cluster, token }: PlaceGiven = {}) => {
    const namespace = aNamespace();
    await kube('POST', '/api/v1/namespaces', { metadata: { name: namespace, ...(labels && { labels }) } });
    const account = await createFleetAccount(kube.ask, namespace);
    const body = registration(namespace, token ?? account, cluster);
    const { id: clusterId } = (await fleet.good(fleet.api.post('/api/v1/clusters', body))).cluster;
    await fleet.good(fleet.api.post(`/api/v1/clusters/${clusterId}/check`));
    return placeOf({ fleet, kube, namespace, clusterId, aName });
  };
  return { aPlace, adminToken, registration, aName };
}

interface PlaceContext extends Pick<Context, 'fleet' | 'kube'> {
  readonly namespace: string;
  readonly clusterId: string;
  readonly aName: () => string;
}

function placeOf({ fleet, kube, namespace, clusterId, aName }: PlaceContext) {
  const { api, good, deployment } = fleet;
  const ids: string[] = [];
  const core = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`;
  const apps = (resource: string) => `/apis/apps/v1/namespaces/${namespace}/${resource}`;
  /** The request of a deployment on this cluster. */
  const requested = (spec: Body, given: Body = {}) => ({
    ...{ name: aName(), spec, target: { cluster_id: clusterId }, ...given },
  });
  const ask = (spec: Body, given: Body = {}): Promise<Answered> =>
    api.post('/api/v1/deployments', requested(spec, given));
  const deploy = async (spec: Body, given: Body = {}): Promise<string> => {
    const { id } = (await good(ask(spec, given))).deployment;
    ids.push(id);
    return id;
  };
  const until = (id: string, what: string, isSo: (shown: Shown) => boolean): Promise<Shown> =>
    eventually(`the deployment ${what}`, () => deployment(id), { ...WAIT, until: isSo });
  const is = (id: string, phase: string, reason: string | null = null) =>
    until(
      id,
      `is ${phase} ${reason ?? ''}`,
      (shown) => shown.phase === phase && shown.reason === reason && shown.generation === shown.observed_generation,
    );
  /** What the API shows of a deployment now, or has shown. */
  const outcome = async (given: string | Shown): Promise<Outcome> => {
    const shown: Shown = typeof given === 'string' ? await deployment(given) : given;
    const { id } = shown;
    const { events } = await good(api.get(`/api/v1/deployments/${id}/events?limit=100`));
    return {
      phase: shown.phase,
      reason: shown.reason,
      message: shown.message,
      conditions: shown.conditions.map(textOfCondition),
      texts: JSON.stringify({ shown, events }),
    };
  };
  const change = async (id: string, body: Body) => (await good(api.put(`/api/v1/deployments/${id}`, body))).deployment;
  const cluster = async () => (await good(api.get(`/api/v1/clusters/${clusterId}`))).cluster;
  const check = async () => (await good(api.post(`/api/v1/clusters/${clusterId}/check`))).cluster;
  return {
    namespace,
    clusterId,
    core,
    apps,
    requested,
    ask,
    deploy,
    until,
    is,
    shown: deployment as (id: string) => Promise<Shown>,
    outcome,
    change,
    cluster,
    check,
    /** What the API shows of the cluster after a check. */
    clusterOutcome: async (): Promise<Outcome> => {
      const now = await check();
      return {
        phase: now.reachability,
        reason: null,
        message: now.message,
        conditions: now.conditions.filter(({ status }: Condition) => status === 'False').map(textOfCondition),
        texts: JSON.stringify(now),
      };
    },
    /** The refusals of a plan, and the remedies that it names. */
    refusedPlan: async (spec: Body, given: Body = {}): Promise<Outcome> => {
      const plan = await fleet.plan(requested(spec, given));
      const refusals: readonly { code: string; message: string }[] = plan.refusals;
      const obstacles: readonly Obstacle[] = plan.placement.candidates.flatMap(
        ({ id, obstacles }: { id: string; obstacles: Obstacle[] }) => (id === clusterId ? obstacles : []),
      );
      const remedies = obstacles.flatMap(({ remedies }) => remedies.map(({ object, field }) => `${object}.${field}`));
      return {
        phase: plan.ok ? 'planned' : 'refused',
        reason: [...new Set(refusals.map(({ code }) => code))].join(', ') || null,
        message: refusals.map(({ message }) => message).join(' '),
        conditions: remedies.length === 0 ? [] : [`fields that remove it: ${[...new Set(remedies)].join(', ')}`],
        texts: JSON.stringify(plan),
      };
    },
    /** Deploys a new revision of the workload. */
    revise: async (id: string, spec: Body) => {
      const { workload_id } = await deployment(id);
      const { revision } = (await good(api.put(`/api/v1/workloads/${workload_id}`, spec))).workload;
      await change(id, { revision });
    },
    set: async (body: Body) => (await good(api.put(`/api/v1/clusters/${clusterId}`, body))).cluster,
    /** Makes a deployment due, as after a minute. */
    reconcileNow: (id: string) =>
      fleet.database.client.deployment.update({ where: { id }, data: { due_at: new Date() } }),
    log: async (id: string, query = '') => {
      const { status, text } = await api.get(`/api/v1/deployments/${id}/logs${query}`);
      if (status !== 200) throw new Error(`the log responded with ${status}: ${text}`);
      return text;
    },
    /** The objects of a deployment. */
    objects: async (id: string, resource: string) =>
      (await kube('GET', `${resource}?labelSelector=fleet/deployment=${id}`)).items,
    /** Deletes the deployment, and waits until it is gone. */
    removed: async (id: string) => {
      await good(api.delete(`/api/v1/deployments/${id}`));
      await eventually('it is gone', async () => (await api.get(`/api/v1/deployments/${id}`)).status === 404, WAIT);
    },
    /** Removes everything. What cannot be removed ends with its namespace and the database of the test. */
    remove: async () => {
      for (const id of ids) await api.delete(`/api/v1/deployments/${id}`);
      const isGone = async () =>
        (await Promise.all(ids.map((id) => api.get(`/api/v1/deployments/${id}`)))).every(
          ({ status }) => status === 404,
        );
      for (let left = GONE_ATTEMPTS; left > 0 && !(await isGone()); left -= 1) await pause(500);
      await kube('DELETE', `/api/v1/namespaces/${namespace}`);
      await kube('DELETE', `/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/fleet-${namespace}`);
    },
  };
}

const GONE_ATTEMPTS = 60;

interface Obstacle {
  readonly message: string;
  readonly remedies: readonly { readonly object: string; readonly field: string }[];
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}

/** The members of a deployment that the tests use. */
export interface Shown {
  readonly id: string;
  readonly phase: string;
  readonly reason: string | null;
  readonly message: string;
  readonly generation: number;
  readonly observed_generation: number | null;
  readonly replicas: number;
  readonly current_replicas: number | null;
  readonly conditions: readonly Condition[];
  readonly endpoints: readonly { readonly address: string; readonly scope: string }[];
  readonly instances: readonly {
    readonly name: string;
    readonly phase: string;
    readonly message: string;
    readonly restarts: number;
    readonly node: string | null;
    readonly containers: readonly { readonly name: string; readonly image: string }[];
  }[];
}

const textOfCondition = ({ type, status, message }: Condition): string => `${type}=${status}: ${message}`;
