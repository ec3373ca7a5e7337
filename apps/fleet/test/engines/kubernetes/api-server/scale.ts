import { updated } from './apply.ts';
import { at, type Stored, type Tree } from './objects.ts';
import { badRequest, conflict, invalid, MODIFIED, notFound, Refusal } from './refusal.ts';
import type { Received, Target } from './request.ts';
import type { Store } from './store.ts';

const APPLY = 'application/apply-patch+yaml';
const MERGE = 'application/merge-patch+json';

/** The subresource `scale` of a Deployment. */
const scaleOf = (deployment: Stored): Stored => {
  const { name, namespace = '', uid, resourceVersion, creationTimestamp } = deployment.metadata;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp, generation: 0 },
    spec: { replicas: at(deployment, 'spec.replicas') ?? 1 },
    status: { replicas: at(deployment, 'status.replicas') ?? 0 },
  };
};

/**
 * Reads or writes the number of replicas through the subresource, as autoscalers (PUT) and `kubectl
 * scale` (PATCH) do. The manager owns the number if it changes it.
 */
export function scale(store: Store, target: Target, request: Received): { code: number; body: object } {
  const { kind, namespace, name } = target;
  const live = store.find(kind.resource, namespace, name);
  if (!live) throw notFound(target);
  if (request.method === 'GET') return { code: 200, body: scaleOf(live) };
  const type = request.headers['content-type'];
  if (request.method === 'PATCH' && type !== MERGE) {
    throw type === APPLY
      ? badRequest('the simulated cluster does not apply a Scale')
      : new Refusal(415, 'UnsupportedMediaType', { message: 'the body of the request was in an unknown format' });
  }
  const { metadata, spec } = JSON.parse(request.body) as Partial<Stored>;
  const expected = metadata?.resourceVersion;
  if (expected && expected !== live.metadata.resourceVersion) throw conflict(target, MODIFIED);
  const replicas = Number(spec?.replicas ?? at(live, 'spec.replicas'));
  if (replicas < 0) {
    const message = `Invalid value: ${replicas}: must be greater than or equal to 0`;
    throw invalid(target, [{ reason: 'FieldValueInvalid', message, field: 'spec.replicas' }]);
  }
  const patch: Tree = { spec: { replicas } };
  const manager = { name: managerOf(request), subresource: 'scale' };
  const result = updated({ live, patch, managers: store.managersOf(kind.resource, live), manager });
  return { code: 200, body: scaleOf(store.put(kind.resource, result.object as Stored, result.managers)) };
}

/** The field manager of a request. By default, it is the first part of the user agent. */
const managerOf = ({ query, headers }: Received): string =>
  query.fieldManager ?? headers['user-agent']?.split('/')[0] ?? 'unknown';
