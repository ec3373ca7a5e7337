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

/** What docs/clusters.md has people apply, for a group in place of the service account: where each is posted, and what. */
export function rolesOf(group) {
  const page = readFileSync(new URL('../../docs/clusters.md', import.meta.url), 'utf8');
  const [, text] = /<<'EOF'\n(.*?)\nEOF\n/s.exec(page);
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }];
  return parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter(({ kind }) => kind in PATHS)
    .map((object) => [PATHS[object.kind], { ...object, ...('subjects' in object && { subjects }) }]);
}
