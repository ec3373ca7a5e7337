import { violationsOf } from '../../../../../../../infra/cluster/policies/pod-security.mjs';
import { forbidden } from '../refusal.ts';
import type { Store } from '../store.ts';
import type { Candidate } from './candidate.ts';

/**
 * Pod Security admission: refuses pods that violate the level of their namespace, which its label
 * `pod-security.kubernetes.io/enforce` names.
 */
export function assertPodSecurity(store: Store, { kind, object, isNew }: Candidate): void {
  if (kind.kind !== 'Pod' || !isNew) return;
  const namespace = store.find('namespaces', undefined, object.metadata.namespace ?? '');
  const level = namespace?.metadata.labels?.['pod-security.kubernetes.io/enforce'];
  if (level !== 'baseline' && level !== 'restricted') return;
  const violations = violationsOf(level, object);
  if (violations.length === 0) return;
  throw forbidden(
    { kind, name: object.metadata.name },
    `violates PodSecurity "${level}:latest": ${violations.join(', ')}`,
  );
}
