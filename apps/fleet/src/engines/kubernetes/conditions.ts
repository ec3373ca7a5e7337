import { eachOf } from '../each-of.ts';
import { unlessGone } from '../errors.ts';
import type { Client } from './cluster-client.ts';

/** Something that is so with a cluster, or is not. */
export interface Condition {
  readonly type: 'NamespaceReady' | 'Permitted' | 'NodesKnown' | 'StorageClassesKnown';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** When it was found, by our clock. */
  readonly at: string;
}

type Finding = Omit<Condition, 'at'>;

/** What the driver does, by the group and name of what it does it with; all of it in the namespace of the fleet. */
const NEEDED: readonly (readonly [group: string, resource: string, verbs: readonly string[]])[] = [
  ['apps', 'deployments', ['list', 'watch', 'get', 'create', 'patch', 'delete']],
  ['batch', 'jobs', ['list', 'watch', 'get', 'create', 'patch', 'delete']],
  ['', 'services', ['list', 'get', 'create', 'patch', 'delete']],
  ['', 'secrets', ['list', 'get', 'create', 'patch', 'delete']],
  ['', 'persistentvolumeclaims', ['list', 'get', 'create', 'patch', 'delete']],
  ['apps', 'replicasets', ['list']],
  ['', 'pods', ['list', 'watch']],
  ['', 'pods/log', ['get']],
  ['', 'events', ['list']],
];

interface Known {
  readonly areNodesKnown: boolean;
  readonly areClassesKnown: boolean;
}

/** How it stands with what the driver needs of a cluster. */
export async function conditionsOf(client: Client, { areNodesKnown, areClassesKnown }: Known): Promise<Condition[]> {
  const findings = [
    await namespaceReady(client),
    await permitted(client),
    known('NodesKnown', areNodesKnown, 'nodes'),
    known('StorageClassesKnown', areClassesKnown, 'storage classes'),
  ];
  const at = new Date().toISOString();
  return findings.map((finding) => ({ ...finding, at }));
}

const known = (type: Finding['type'], isKnown: boolean, what: string): Finding => {
  const message = `The credentials that were given may not list the ${what} of the cluster.`;
  return isKnown
    ? { type, status: 'True', reason: 'Listed', message: '' }
    : { type, status: 'False', reason: 'Forbidden', message };
};

async function namespaceReady(client: Client): Promise<Finding> {
  const { namespace } = client.address;
  const { core } = await client.apis();
  const type = 'NamespaceReady';
  if (!(await isAllowed(client, { verb: 'get', resource: 'namespaces', namespace, name: namespace }))) {
    return {
      type,
      status: 'Unknown',
      reason: 'Forbidden',
      message: `Whether there is a namespace ${namespace} is not shown.`,
    };
  }
  const found = await unlessGone(core.readNamespace({ name: namespace }));
  if (found?.status?.phase === 'Terminating' || found?.metadata?.deletionTimestamp) {
    return { type, status: 'False', reason: 'Terminating', message: `The namespace ${namespace} is being deleted.` };
  }
  if (found) return { type, status: 'True', reason: 'Active', message: '' };
  return (await isAllowed(client, { verb: 'create', resource: 'namespaces' }))
    ? {
        type,
        status: 'True',
        reason: 'Missing',
        message: `The namespace ${namespace} is made with the first deployment.`,
      }
    : {
        type,
        status: 'False',
        reason: 'Missing',
        message: `There is no namespace ${namespace}, and it may not be made.`,
      };
}

async function permitted(client: Client): Promise<Finding> {
  const { namespace } = client.address;
  const needed = NEEDED.flatMap(([group, resource, verbs]) =>
    verbs.map((verb) => ({ group, resource, verb, namespace })),
  );
  const missing = await eachOf(needed, async (it) =>
    (await isAllowed(client, it)) ? [] : [`${it.verb} ${it.resource}`],
  );
  const lacks = missing.flat();
  if (lacks.length === 0) return { type: 'Permitted', status: 'True', reason: 'Allowed', message: '' };
  const message = `The credentials that were given may not, in the namespace ${namespace}: ${lacks.join(', ')}.`;
  return { type: 'Permitted', status: 'False', reason: 'Forbidden', message };
}

interface Act {
  readonly verb: string;
  /** With what is below it: `pods/log`. */
  readonly resource: string;
  readonly group?: string;
  readonly namespace?: string;
  /** The one object that it is about. */
  readonly name?: string;
}

async function isAllowed(client: Client, { verb, resource: path, group = '', namespace, name }: Act): Promise<boolean> {
  const { authorization } = await client.apis();
  const [resource = '', subresource] = path.split('/');
  const resourceAttributes = {
    verb,
    group,
    resource,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
  };
  const { status } = await authorization.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } });
  return status?.allowed === true;
}
