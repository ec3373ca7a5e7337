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

/** The objects that docs/clusters.md applies for the namespace `fleet`. */
function documentedObjects() {
  const page = readFileSync(new URL('../../../docs/clusters.md', import.meta.url), 'utf8');
  const texts = [...page.matchAll(/<<'?EOF'?\n(.*?)\nEOF\n/gs)].map(([, text]) =>
    text.replaceAll('$NAMESPACE', 'fleet'),
  );
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
}

/** Creates the objects of docs/clusters.md, and the same permissions in `otherNamespaces`. @returns a token of the service account */
export async function createFleetAccount(call, otherNamespaces) {
  const objects = documentedObjects();
  for (const object of objects) await create(call, withNamespaces(object, otherNamespaces));
  for (const namespace of otherNamespaces) {
    for (const object of objects.filter(({ kind }) => ['Role', 'RoleBinding'].includes(kind))) {
      await create(call, { ...object, metadata: { ...object.metadata, namespace } });
    }
  }
  const request = { spec: { expirationSeconds: YEAR_SECONDS } };
  const { status, body } = await call('POST', '/api/v1/namespaces/fleet/serviceaccounts/fleet/token', request);
  if (status !== 201) throw new Error(`The service account has no token: ${JSON.stringify(body)}`);
  return body.status.token;
}

/** A ClusterRole that names the namespace `fleet` names the others as well. */
function withNamespaces(object, namespaces) {
  const rules = object.rules?.map((rule) => {
    const names = rule.resourceNames ?? [];
    return names.includes('fleet') ? { ...rule, resourceNames: [...names, ...namespaces] } : rule;
  });
  return rules ? { ...object, rules } : object;
}

/** @throws if the API server rejects the object */
async function create(call, object) {
  const path = pathOf[object.kind](object.metadata);
  const { status, body } = await call('POST', path, object);
  if (status !== 201) throw new Error(`POST ${path} failed with ${status}: ${JSON.stringify(body)}`);
}
