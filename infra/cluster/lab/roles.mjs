import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { parseAllDocuments } = createRequire(new URL('../../../packages/testing/package.json', import.meta.url))('yaml');

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const pathOf = {
  Namespace: () => '/api/v1/namespaces',
  ServiceAccount: ({ namespace }) => `/api/v1/namespaces/${namespace}/serviceaccounts`,
  Role: ({ namespace }) => `${RBAC}/namespaces/${namespace}/roles`,
  RoleBinding: ({ namespace }) => `${RBAC}/namespaces/${namespace}/rolebindings`,
  ClusterRole: () => `${RBAC}/clusterroles`,
  ClusterRoleBinding: () => `${RBAC}/clusterrolebindings`,
};
const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** The objects that docs/clusters.md applies for a namespace. */
function documentedObjects(namespace) {
  const page = readFileSync(new URL('../../../docs/clusters.md', import.meta.url), 'utf8');
  return [...page.matchAll(/<<'?EOF'?\n(.*?)\nEOF\n/gs)]
    .flatMap(([, text]) => parseAllDocuments(text.replaceAll('$NAMESPACE', namespace)))
    .map((document) => document.toJS());
}

/** Creates the objects of docs/clusters.md for a namespace. @returns a token of its service account */
export async function createFleetAccount(call, namespace) {
  for (const object of documentedObjects(namespace)) await create(call, object);
  const request = { spec: { expirationSeconds: YEAR_SECONDS } };
  const { status, body } = await call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/fleet/token`, request);
  if (status !== 201) throw new Error(`The service account has no token: ${JSON.stringify(body)}`);
  return body.status.token;
}

/** Creates an object, unless it exists. @throws if the API server rejects it */
async function create(call, object) {
  const path = pathOf[object.kind](object.metadata);
  const { status, body } = await call('POST', path, object);
  if (![201, 409].includes(status)) throw new Error(`POST ${path} failed with ${status}: ${JSON.stringify(body)}`);
}
