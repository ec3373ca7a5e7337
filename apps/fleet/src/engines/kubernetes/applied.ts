import { createHash } from 'node:crypto';
import type { V1ManagedFieldsEntry, V1ObjectMeta } from '@kubernetes/client-node';
import { LRUCache } from 'lru-cache';

/** The field manager of everything that the fleet applies. */
export const FIELD_MANAGER = 'fleet';

/**
 * The field manager that keeps the number of replicas between the fleet and the next one that sets
 * it. A field without a manager would be reset to its default.
 */
export const HANDOVER_MANAGER = 'fleet-handover';

/** Whether an entry of the managed fields of an object is that of the fleet. */
export const isOfFleet = ({ manager, operation, subresource }: V1ManagedFieldsEntry): boolean =>
  manager === FIELD_MANAGER && operation === 'Apply' && !subresource;

/** The maximum number of objects per cluster. Others are applied in each pass. */
const MAX_OBJECTS = 50_000;

interface Digests {
  /** Of what was applied. */
  readonly body: string;
  /** Of the fields that the fleet owned afterwards, and when it last changed one. */
  readonly owned: string;
}

/**
 * The objects that this process has applied and that another apply would not change. If someone
 * changes or removes a field that the fleet has set, the fleet no longer owns it, and the managed
 * fields of the object differ.
 */
export class AppliedObjects {
  readonly #digests = new LRUCache<string, Digests>({ max: MAX_OBJECTS });

  /** Whether an apply of the body would change nothing in the object with this metadata. */
  isCurrent(body: object, metadata: V1ObjectMeta): boolean {
    const known = this.#digests.get(metadata.uid ?? '');
    return known !== undefined && known.body === digestOf(body) && known.owned === ownedDigest(metadata);
  }

  /** Records that an object has this metadata after the body was applied. */
  record(body: object, metadata: V1ObjectMeta): void {
    const owned = ownedDigest(metadata);
    if (metadata.uid && owned !== undefined) this.#digests.set(metadata.uid, { body: digestOf(body), owned });
  }
}

const digestOf = (value: object): string => createHash('sha256').update(JSON.stringify(value)).digest('base64');

/** Undefined if the server does not return managed fields. */
function ownedDigest({ managedFields = [] }: V1ObjectMeta): string | undefined {
  const own = managedFields.filter(isOfFleet);
  return own.length === 0 ? undefined : digestOf(own);
}
