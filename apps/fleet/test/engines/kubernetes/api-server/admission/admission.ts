import type { Stored } from '../objects.ts';
import type { Store } from '../store.ts';
import type { Candidate } from './candidate.ts';
import { assertWithinQuotas, withLimitRanges } from './limits.ts';
import { assertPodSecurity } from './pod-security.ts';
import { assertAdmitted, mutated, type Webhook, webhooksOfTestCluster } from './webhooks.ts';

/** Changes and checks objects before they are stored. */
export interface Admission {
  readonly webhooks: Webhook[];
  /** @returns the object as it is stored @throws Refusal */
  admit(candidate: Candidate): Stored;
}

/**
 * The admission of an API server, in the order of its plugins. Quotas are last. Namespaces with the
 * labels of the test cluster (infra/cluster) have its policies.
 */
export function createAdmission(store: Store): Admission {
  const own: Webhook[] = [];
  return {
    webhooks: own,
    admit: (candidate) => {
      const namespace = store.find('namespaces', undefined, candidate.object.metadata.namespace ?? '');
      const webhooks = [...own, ...webhooksOfTestCluster(namespace?.metadata.labels ?? {})];
      const object = withLimitRanges(store, { ...candidate, object: mutated(webhooks, candidate) });
      const changed = { ...candidate, object };
      assertPodSecurity(store, changed);
      assertAdmitted(webhooks, changed);
      assertWithinQuotas(store, changed);
      return object;
    },
  };
}
