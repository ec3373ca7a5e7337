import { isTree, type Stored, type Tree } from '../objects.ts';
import { forbidden } from '../refusal.ts';
import type { Store } from '../store.ts';
import type { Candidate } from './admission.ts';

/**
 * The checks of the Pod Security Standard `restricted` that the workloads of the fleet can violate
 * (https://kubernetes.io/docs/concepts/security/pod-security-standards/). They apply to pods in
 * namespaces with the label `pod-security.kubernetes.io/enforce: restricted`.
 */
export function assertPodSecurity(store: Store, { kind, object, isNew }: Candidate): void {
  if (kind.kind !== 'Pod' || !isNew) return;
  const namespace = store.find('namespaces', undefined, object.metadata.namespace ?? '');
  if (namespace?.metadata.labels?.['pod-security.kubernetes.io/enforce'] !== 'restricted') return;
  const violations = violationsOf(object.spec ?? {});
  if (violations.length === 0) return;
  throw forbidden(
    { kind, name: object.metadata.name },
    `violates PodSecurity "restricted:latest": ${violations.join(', ')}`,
  );
}

const ALLOWED_CAPABILITIES = ['NET_BIND_SERVICE'];

function violationsOf(pod: Tree): string[] {
  const ofPod = treeIn(pod, 'securityContext');
  const containers = [...listIn(pod, 'containers'), ...listIn(pod, 'initContainers')];
  const each = (isViolated: (context: Tree) => boolean) =>
    containers.filter((container) => isViolated(treeIn(container, 'securityContext'))).map(({ name }) => `"${name}"`);
  const report = (rule: string, names: readonly string[], what: string) =>
    names.length === 0 ? [] : [`${rule} (${names.length === 1 ? 'container' : 'containers'} ${names.join(', ')} ${what})`];
  const capabilities = (context: Tree, member: string) => textsIn(treeIn(context, 'capabilities'), member);
  return [
    ...report(
      'allowPrivilegeEscalation != false',
      each(({ allowPrivilegeEscalation }) => allowPrivilegeEscalation !== false),
      'must set securityContext.allowPrivilegeEscalation=false',
    ),
    ...report(
      'unrestricted capabilities',
      each(
        (context) =>
          !capabilities(context, 'drop').includes('ALL') ||
          capabilities(context, 'add').some((capability) => !ALLOWED_CAPABILITIES.includes(capability)),
      ),
      'must set securityContext.capabilities.drop=["ALL"] and must not add others than "NET_BIND_SERVICE"',
    ),
    ...report(
      'runAsNonRoot != true',
      each((context) => (context.runAsNonRoot ?? ofPod.runAsNonRoot) !== true),
      'must set securityContext.runAsNonRoot=true',
    ),
    ...report(
      'runAsUser=0',
      each((context) => (context.runAsUser ?? ofPod.runAsUser) === 0),
      'must not set runAsUser=0',
    ),
    ...report(
      'seccompProfile',
      each((context) => {
        const { type } = { ...treeIn(ofPod, 'seccompProfile'), ...treeIn(context, 'seccompProfile') };
        return type !== 'RuntimeDefault' && type !== 'Localhost';
      }),
      'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
    ),
  ];
}

const treeIn = (tree: Tree, member: string): Tree => {
  const found = tree[member];
  return isTree(found) ? found : {};
};

const listIn = (tree: Tree, member: string): Tree[] => {
  const found = tree[member];
  return Array.isArray(found) ? found.filter(isTree) : [];
};

const textsIn = (tree: Tree, member: string): string[] => {
  const found = tree[member];
  return Array.isArray(found) ? found.map(String) : [];
};

/** The containers of a pod. */
export const containersOfPod = ({ spec = {} }: Pick<Stored, 'spec'>): Tree[] => listIn(spec, 'containers');
