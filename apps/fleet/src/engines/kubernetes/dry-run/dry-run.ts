import type { V1Pod, V1PodSpec } from '@kubernetes/client-node';
import type { DryRun } from '@svc/contract/fleet';
import { createTurnQueue, Problem, type TurnQueue } from '@svc/http';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { KubernetesManifest, KubernetesObject } from '../../../render/kubernetes.ts';
import { EngineFailure, Unreachable } from '../../errors.ts';
import { FIELD_MANAGER } from '../applied.ts';
import type { KubernetesClient } from '../client.ts';
import { isForbidden, isImmutableField, isNamespaceMissing } from '../errors.ts';
import { applyObject, nameOf, podsOf } from '../objects.ts';
import { compareWithQuotas } from './quota.ts';

/** The objects of a change. */
export interface DryRunRequest {
  /** With placeholders of the lengths of secret values. */
  readonly manifest: KubernetesManifest<'placeholders'>;
  readonly replicas: number;
  /** The deployment before the change, 0 replicas if it is stopped; undefined for a new one. */
  readonly before: { readonly id: string; readonly replicas: number } | undefined;
  /** Whether the change replaces the pods of the deployment. */
  readonly replacesPods: boolean;
  /** The key of the caller. Callers take turns. */
  readonly caller: string;
  readonly signal: AbortSignal;
}

/** The maximum number of dry runs of a cluster at the same time per process. */
const RUNNING = 4;
/** More than the objects of a few plans. */
const WAITING_PER_CALLER = 128;

/** By server, while dry runs of it are in progress. Several registrations can have the same cluster. */
const queues = new Map<string, { readonly queue: TurnQueue; users: number }>();

async function withQueue<T>({ address, timing }: KubernetesClient, work: (queue: TurnQueue) => Promise<T>): Promise<T> {
  const limits = { what: 'dry runs', running: RUNNING, waitingPerCaller: WAITING_PER_CALLER, waitMs: timing.dryRun };
  const entry = queues.get(address.server) ?? { queue: createTurnQueue(limits), users: 0 };
  queues.set(address.server, entry);
  entry.users += 1;
  try {
    return await work(entry.queue);
  } finally {
    entry.users -= 1;
    if (entry.users === 0) queues.delete(address.server);
  }
}

/**
 * Asks a cluster about the objects of a change with server-side dry runs, which store nothing: about
 * each object, about one pod from the template, because quotas, limit ranges and Pod Security act on
 * pods, and whether all pods are within the quotas of the namespace. Never throws an
 * `EngineFailure`. Takes at most `timing.dryRun`.
 */
export const dryRun = (client: KubernetesClient, request: DryRunRequest): Promise<DryRun[]> =>
  withQueue(client, async (queue) => {
    const { manifest, caller, signal } = request;
    await client.apis(); // the first call loads the library, which is not the time of the cluster
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(client.timing.dryRun)]);
    const view = client.withSignal(deadline);
    const ask: Asker = (object, work) =>
      answerOf({ client, object, deadline }, () =>
        queue.run(caller, async () => {
          deadline.throwIfAborted();
          return work(view);
        }),
      );
    const [objects, ofPods] = await Promise.all([
      Promise.all(manifest.objects.map((object) => askAboutObject(ask, object))),
      askAboutPods(ask, request),
    ]);
    return [...objects, ...ofPods];
  });

/** Sends a request when it is its turn. */
type Asker = <T>(object: string, work: (view: KubernetesClient) => Promise<T>) => Promise<Answer<T>>;

type Answer<T> = DryRun & { readonly value?: T };

const withoutValue = ({ object, result, reason, message }: Answer<unknown>): DryRun => ({
  object,
  result,
  reason,
  message,
});

const passed = (object: string): DryRun => ({ object, result: 'passed', reason: null, message: '' });

const askAboutObject = async (ask: Asker, object: KubernetesObject): Promise<DryRun> =>
  withoutValue(
    await ask(`${object.kind}/${nameOf(object)}`, async (view) => {
      try {
        await applyObject(view, object, { before: undefined, force: false, dryRun: true });
      } catch (error) {
        // The object is then deleted and created again.
        if (object.kind === 'PersistentVolumeClaim' || !isImmutableField(error)) throw error;
      }
    }),
  );

/** Asks about one pod, and then about all pods, as the cluster would store them. */
async function askAboutPods(ask: Asker, request: DryRunRequest): Promise<DryRun[]> {
  const { manifest, replicas, before, replacesPods } = request;
  const workload = manifest.objects.find(isWorkload);
  const template = workload?.spec?.template;
  const addsPods = replacesPods || replicas > (before?.replicas ?? 0);
  if (!addsPods || workload === undefined || template === undefined) return [];
  const answer = await ask(`Pod/${nameOf(workload)}`, (view) => createPod(view, workload, template));
  const ofPod = withoutValue(answer);
  const ofQuotas = await askAboutQuotas(ask, request, answer.value?.spec ?? specOf(template));
  // The quotas are compared with all pods. They are the last plugin, so that the others have passed.
  const isRefusedByQuota = ofPod.result === 'refused' && EXCEEDED.test(ofPod.message);
  const areQuotasKnown = ofQuotas.length > 0 && ofQuotas.every(({ result }) => result !== 'not_checked');
  return [isRefusedByQuota && areQuotasKnown ? passed(ofPod.object) : ofPod, ...ofQuotas];
}

const EXCEEDED = /exceeded quota/;

type Workload = Extract<KubernetesObject, { kind: 'Deployment' | 'Job' }>;

const isWorkload = (object: KubernetesObject): object is Workload =>
  object.kind === 'Deployment' || object.kind === 'Job';

/**
 * Creates a pod in a dry run. It has an owner as the pods of a controller, because policies can
 * refuse others.
 */
async function createPod(view: KubernetesClient, workload: Workload, template: IPodTemplateSpec): Promise<V1Pod> {
  const { core } = await view.apis();
  const { namespace } = view.address;
  const name = nameOf(workload);
  const owner =
    workload.kind === 'Job'
      ? { apiVersion: 'batch/v1', kind: 'Job', name }
      : { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${name}-dry-run` };
  const ownerReferences = [{ ...owner, uid: NO_UID, controller: true }];
  const { labels = {}, annotations = {} } = template.metadata ?? {};
  return core.createNamespacedPod({
    namespace,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, generateName: `${name}-`, labels, annotations, ownerReferences },
      spec: specOf(template),
    },
    dryRun: 'All',
    fieldManager: FIELD_MANAGER,
    fieldValidation: 'Strict',
  });
}

/** The types of the renderer and of the client describe the same members. */
const specOf = ({ spec }: IPodTemplateSpec): V1PodSpec => JSON.parse(JSON.stringify(spec));

/** No object has it. */
const NO_UID = '00000000-0000-0000-0000-000000000000';

const PAGE_LIMIT = 100;

async function askAboutQuotas(
  ask: Asker,
  { manifest, replicas, before, replacesPods }: DryRunRequest,
  pod: V1PodSpec,
): Promise<DryRun[]> {
  const read = await ask('ResourceQuota', async (view) => {
    const { core } = await view.apis();
    const { items } = await core.listNamespacedResourceQuota({ namespace: view.address.namespace, limit: PAGE_LIMIT });
    const quotas = items ?? [];
    const pods = quotas.length === 0 || before === undefined ? [] : await podsOf(view, before.id);
    return { quotas, present: pods.filter(isCounted).flatMap(({ spec }) => spec ?? []) };
  });
  if (read.value === undefined) return [withoutValue(read)];
  const { quotas, present } = read.value;
  const surge = replacesPods && present.length > 0 ? surgeOf(manifest) : 0;
  return compareWithQuotas(quotas, { pod, replicas, surge, present }).map(({ name, message }) => {
    const object = `ResourceQuota/${name}`;
    return message === '' ? passed(object) : { object, result: 'refused', reason: null, message };
  });
}

/** Quotas do not count pods that have ended. */
const isCounted = ({ status }: V1Pod): boolean => status?.phase !== 'Succeeded' && status?.phase !== 'Failed';

function surgeOf({ objects }: KubernetesManifest<'placeholders'>): number {
  const deployment = objects.find((object) => object.kind === 'Deployment');
  return Number(deployment?.spec?.strategy?.rollingUpdate?.maxSurge ?? 0);
}

interface Asked {
  readonly client: KubernetesClient;
  readonly object: string;
  readonly deadline: AbortSignal;
}

async function answerOf<T>({ client, object, deadline }: Asked, work: () => Promise<T>): Promise<Answer<T>> {
  const waiting = aborted(deadline);
  try {
    return { ...passed(object), value: await Promise.race([work(), waiting.promise]) };
  } catch (error) {
    if (error instanceof EngineFailure) return { object, ...meaningOf(error, client) };
    if (!deadline.aborted && !isOverloaded(error)) throw error;
    const message = `The cluster has not answered within ${client.timing.dryRun / 1000} seconds.`;
    return { object, result: 'not_checked', reason: 'timeout', message };
  } finally {
    waiting.end();
  }
}

/** A promise that rejects when a signal aborts. */
function aborted(signal: AbortSignal) {
  const { promise, reject } = Promise.withResolvers<never>();
  const listener = () => reject(signal.reason);
  signal.addEventListener('abort', listener);
  if (signal.aborted) listener();
  promise.catch(() => undefined); // it is only awaited in a race
  return { promise, end: () => signal.removeEventListener('abort', listener) };
}

const isOverloaded = (error: unknown): boolean => error instanceof Problem && error.code === 'overloaded';

const NO_DRY_RUN = /does not support dry run/;

/** Policies name all their rules in one sentence. */
const MAX_SENTENCE = 2000;

/** What the failure of a dry run means for the change. */
function meaningOf(failure: EngineFailure, { address }: KubernetesClient): Omit<DryRun, 'object'> {
  const notChecked = (reason: DryRun['reason'], message: string) => ({
    result: 'not_checked' as const,
    reason,
    message,
  });
  const { response } = failure;
  const sentence = (response?.engineMessage ?? '').slice(0, MAX_SENTENCE);
  if (failure instanceof Unreachable) return notChecked('unreachable', failure.message);
  if (isForbidden(failure) || response?.status === 401) return notChecked('forbidden', failure.message);
  if (isNamespaceMissing(failure, address.namespace))
    return notChecked('namespace_missing', `The namespace ${address.namespace} does not exist yet.`);
  if (NO_DRY_RUN.test(sentence)) return notChecked('webhook', sentence);
  if (response !== undefined && (response.status === 429 || response.status > 500))
    return notChecked('unreachable', failure.message);
  return { result: 'refused', reason: null, message: sentence || failure.message };
}
