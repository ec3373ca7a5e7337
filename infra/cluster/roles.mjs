import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { parseAllDocuments } = createRequire(new URL('../../packages/testing/package.json', import.meta.url))('yaml');

const PATHS = {
  Namespace: '/api/v1/namespaces',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/fleet/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/fleet/rolebindings',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
};

/** The objects in docs/clusters.md with their API paths, for a group instead of the service account. */
export function rolesOf(group) {
  const page = readFileSync(new URL('../../docs/clusters.md', import.meta.url), 'utf8');
  const [, text] = /<<'EOF'\n(.*?)\nEOF\n/s.exec(page);
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }];
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter(({ kind }) => kind in PATHS)
    .map((object) => [PATHS[object.kind], { ...object, ...('subjects' in object && { subjects }) }]);
}
