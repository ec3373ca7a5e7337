import { randomBytes } from 'node:crypto';
import type { Admission } from './admission/admission.ts';
import { applied } from './apply.ts';
import { moment, type Stored } from './objects.ts';
import { badRequest, conflict, forbidden, invalid, MODIFIED, mismatch, notFound, Refusal } from './refusal.ts';
import type { Received, Target } from './request.ts';
import { assertDeclared, assertUnchanged, assertValid } from './rules.ts';
import type { Store } from './store.ts';

interface StoreResponse {
  readonly code: number;
  readonly body: object;
}

/** What stores objects. */
interface Writing {
  readonly store: Store;
  readonly admission: Admission;
}

/** Whether a request stores nothing. */
const isDryRun = ({ query }: Received): boolean => query.dryRun === 'All';

/** Creates an object. */
export function create({ store, admission }: Writing, target: Target, request: Received): StoreResponse {
  const object = named(JSON.parse(request.body) as Stored);
  const { kind, namespace } = target;
  const name = object.metadata.name;
  assertNamespace(store, { ...target, name });
  if (store.find(kind.resource, namespace, name)) {
    const message = `${kind.resource} "${name}" already exists`;
    throw new Refusal(409, 'AlreadyExists', { message, details: { name, kind: kind.resource } });
  }
  const candidate = { kind, object: { ...object, ...typed(target) }, isNew: true, isDryRun: isDryRun(request) };
  const admitted = admission.admit(candidate);
  return { code: 201, body: isDryRun(request) ? admitted : store.put(kind.resource, admitted) };
}

/** Gives an object with a `generateName` its name. */
const named = (object: Stored & { readonly metadata: { readonly generateName?: string } }): Stored => {
  const { generateName, name = `${generateName}${randomBytes(3).toString('hex').slice(0, 5)}` } = object.metadata;
  return { ...object, metadata: { ...object.metadata, name } };
};

const typed = ({ kind }: Target) => ({ apiVersion: kind.apiVersion, kind: kind.kind });

/** Server-side apply, which is the only supported patch. */
export function apply({ store, admission }: Writing, target: Target, request: Received): StoreResponse {
  const { body, query, headers } = request;
  if (headers['content-type'] !== 'application/apply-patch+yaml') {
    const message = 'the body of the request was in an unknown format';
    throw new Refusal(415, 'UnsupportedMediaType', { message });
  }
  const { kind, namespace, name } = target;
  const config = JSON.parse(body) as Stored;
  const { fieldManager: manager } = query;
  if (!manager) throw badRequest('PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value');
  if (config.metadata.name !== name) throw badRequest('the name of the object does not match the name on the URL');
  const live = store.find(kind.resource, namespace, name);
  if (!live) assertNamespace(store, target);
  if (!live && config.metadata.uid) throw conflict(target, missingUid(config.metadata.uid));
  assertDeclared(target, config);
  const managers = live ? store.managersOf(kind.resource, live) : new Map();
  const force = query.force === 'true';
  const result = applied({ live, config, managers, manager, force });
  const object = withDefaults({ ...(result.object as Stored), ...typed(target) });
  const { uid, resourceVersion } = config.metadata; // preconditions
  const isStale = live && resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion;
  if (isStale) throw conflict(target, MODIFIED);
  if (live && uid && uid !== live.metadata.uid) throw invalid(target, [uidChanged(uid)]);
  assertValid(target, object);
  if (live) assertUnchanged(target, live, object);
  const admitted = admission.admit({ kind, object, isNew: !live, isDryRun: isDryRun(request) });
  const code = live ? 200 : 201;
  return { code, body: isDryRun(request) ? admitted : store.put(kind.resource, admitted, result.managers) };
}

/** The defaults that are set in a field without a value. No manager owns such a field. */
function withDefaults(object: Stored): Stored {
  if (object.kind !== 'Deployment' || !object.spec || object.spec.replicas !== undefined) return object;
  return { ...object, spec: { ...object.spec, replicas: 1 } };
}

const missingUid = (uid: string) =>
  `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
const uidChanged = (requested: string) => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: "${requested}": field is immutable`,
  field: 'metadata.uid',
});

/** Rejects objects in a namespace that does not exist or is being deleted. */
function assertNamespace(store: Store, { kind, namespace, name }: Target): void {
  if (namespace === undefined) return;
  const found = store.find('namespaces', undefined, namespace);
  if (!found) {
    const details = { name: namespace, kind: 'namespaces' };
    throw new Refusal(404, 'NotFound', { message: `namespaces "${namespace}" not found`, details });
  }
  if (!found.metadata.deletionTimestamp) return;
  const message = `namespace ${namespace} is being terminated`;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  throw forbidden({ kind, name }, why, [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }]);
}

interface DeleteOptions {
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

const GRACE_MS = 30_000;

/** Deletes an object. It is removed when it has no finalizers. */
export function remove(store: Store, target: Target, { body }: Received): StoreResponse {
  const { kind, namespace, name } = target;
  const live = store.find(kind.resource, namespace, name);
  if (!live) throw notFound(target);
  const { propagationPolicy, preconditions = {} } = (body === '' ? {} : JSON.parse(body)) as DeleteOptions;
  assertPreconditions(target, live, preconditions);
  const { metadata } = live;
  const finalizers = [...(metadata.finalizers ?? [])];
  if (propagationPolicy === 'Foreground' && ['deployments', 'replicasets', 'jobs'].includes(kind.resource)) {
    finalizers.push('foregroundDeletion');
  }
  const grace = kind.resource === 'pods' ? GRACE_MS : 0;
  if (grace > 0) finalizers.push('kubelet'); // the node completes the deletion of a pod
  const leaving = {
    ...live,
    metadata: {
      ...metadata,
      finalizers: [...new Set(finalizers)],
      deletionTimestamp: metadata.deletionTimestamp ?? moment(Date.now() + grace),
    },
  };
  const left = store.put(kind.resource, leaving);
  const details = { name, kind: kind.resource, uid: metadata.uid };
  const isGone = finalizers.length === 0;
  return {
    code: 200,
    body: isGone ? { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } : left,
  };
}

function assertPreconditions(
  target: Target,
  { metadata }: Stored,
  { uid, resourceVersion }: NonNullable<DeleteOptions['preconditions']>,
) {
  if (uid && uid !== metadata.uid) throw conflict(target, mismatch(uid, metadata.uid));
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    const why = `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`;
    throw conflict(target, why);
  }
}
