/** The metadata of an object. */
export interface Meta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller: boolean }[];
  managedFields?: unknown[];
}

/** The metadata of a new object. */
export const metaOf = (given: Partial<Meta> & Pick<Meta, 'name'>): Meta => ({
  uid: '',
  resourceVersion: '',
  generation: 1,
  creationTimestamp: '',
  ...given,
});

/** A stored object. */
export interface Stored {
  apiVersion: string;
  kind: string;
  metadata: Meta;
  spec?: Tree;
  status?: Tree;
  [member: string]: unknown;
}

export type Tree = { [member: string]: unknown };

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A time in the format of API servers, without fractions of a second. */
export const moment = (at = Date.now()): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

/** The value at a path such as `spec.replicas`, or undefined. */
export const at = (object: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, member) => (isTree(value) ? value[member] : undefined), object);

/** The value at a path as text, or '' if there is none. */
export const textAt = (object: unknown, path: string): string => String(at(object, path) ?? '');

export const inNamespaceOf = ({ metadata: { namespace } }: Stored): { namespace?: string } =>
  namespace === undefined ? {} : { namespace };
