import { MAX_KEYRING_CHARACTERS, MAX_PUBLISHERS } from '@svc/contract/hub';
import { Problem } from '@svc/http';
import {
  acceptChain,
  inspectKeyring,
  type KeyState,
  MAX_TRANSITIONS,
  readPublicKey,
  reasons,
  Untrusted,
} from '@svc/trust';
import type { Prisma } from '../../generated/prisma/client.ts';

type Row = Prisma.PublisherGetPayload<object>;

/** The newest keyring of a publisher, as it is given to the hub. */
export interface GivenKeyring {
  readonly slug: string;
  readonly name: string;
  readonly root: unknown;
  readonly keyring: string;
  readonly transitions: readonly string[];
}

/**
 * Stores a publisher, or its newer keyring. The hub keeps the first root, and follows announced ones. Fleets do not trust it: they
 * verify the keyring with their own root.
 * @returns the row, and whether it is another one than before
 * @throws 409 `keyring_outdated`, `too_many_publishers`, 422 `keyring_invalid`
 */
export async function storePublisher(
  transaction: Pick<Prisma.TransactionClient, 'publisher' | '$queryRaw'>,
  { slug, name, root, keyring, transitions }: GivenKeyring,
): Promise<{ readonly row: Row; readonly isChanged: boolean }> {
  const { publisher } = transaction;
  // One writer at a time, so that the bounds hold.
  await transaction.$queryRaw`SELECT pg_advisory_xact_lock(hashtextextended('publishers', 0))::text`;
  const existing = await publisher.findUnique({ where: { slug } });
  if (existing && existing.keyring === keyring && existing.name === name) return { row: existing, isChanged: false };
  const state = await acceptedState(existing, { slug, root, keyring, transitions });
  const announcing = existing && existing.root !== null && kidOf(existing.root) !== state.root.kid;
  const kept = announcing ? [...existing.transitions, existing.keyring].slice(-MAX_TRANSITIONS) : existing?.transitions;
  const data = {
    name,
    root: { ...state.root },
    keyring,
    transitions: transitions.length > 0 ? [...transitions] : (kept ?? []),
    updated_at: new Date(),
  };
  const row = await publisher.upsert({ where: { slug }, create: { slug, ...data }, update: data });
  await refuseBeyondBounds(transaction);
  return { row, isChanged: true };
}

const kidOf = (root: Prisma.JsonValue): unknown => Object(root).kid;

/** @throws 409, 422 */
async function acceptedState(
  existing: Row | null,
  { slug, root, keyring, transitions }: Omit<GivenKeyring, 'name'>,
): Promise<KeyState> {
  try {
    // A keyring that has expired since is still the known one.
    const known = existing ? (await inspectKeyring(existing.keyring)).keyring : undefined;
    const trusted = await readPublicKey(existing ? existing.root : root);
    const state = { publisher: slug, root: trusted, nextRoot: known?.next_root, keyring: known };
    return await acceptChain(state, { transitions, keyring }, { now: new Date() });
  } catch (error) {
    if (!(error instanceof Untrusted)) throw error;
    const { message, remedy } = reasons[error.reason];
    const detail = error.detail === '' ? '' : ` (${error.detail})`;
    const isOutdated = error.reason === 'keyring_rollback' || error.reason === 'keyring_conflict';
    throw new Problem(
      isOutdated ? 'keyring_outdated' : 'keyring_invalid',
      `${message.slice(0, -1)}${detail}. ${remedy}`,
      {
        errors: [{ path: 'keyring', message: error.message }],
      },
    );
  }
}

/** @throws 409 */
async function refuseBeyondBounds(transaction: Pick<Prisma.TransactionClient, '$queryRaw'>): Promise<void> {
  const [found] = await transaction.$queryRaw<{ count: number; characters: number }[]>`
    SELECT count(*)::int AS count,
      coalesce(sum(length(keyring) + length(array_to_string(transitions, ''))), 0)::int AS characters FROM publishers`;
  if (!found || (found.count <= MAX_PUBLISHERS && found.characters <= MAX_KEYRING_CHARACTERS)) return;
  throw new Problem(
    'too_many_publishers',
    `At most ${MAX_PUBLISHERS} publishers and ${MAX_KEYRING_CHARACTERS} characters of keyrings are allowed. Delete a publisher that is not needed.`,
  );
}
