import { Problem } from '@svc/http';
import {
  acceptChain,
  inspectKeyring,
  type Keyring,
  type KeyringChain,
  type PublicKey,
  publicKeyOfPem,
  readPublicKey,
  reasons,
  type TrustedPublisher,
  Untrusted,
} from '@svc/trust';
import type { Prisma } from '../generated/prisma/client.ts';

type Transaction = Prisma.TransactionClient;
export type PublisherRow = Prisma.TrustPublisherGetPayload<object>;

/** A publisher, and its name for people. */
export interface NamedPublisher extends TrustedPublisher {
  readonly name: string;
}

/** The publishers that the fleet trusts, with their keyrings. At most 50. */
export async function readPublishers({
  trustPublisher,
}: Pick<Transaction, 'trustPublisher'>): Promise<NamedPublisher[]> {
  return Promise.all((await trustPublisher.findMany({ orderBy: { slug: 'asc' } })).map(publisherOf));
}

async function publisherOf(row: PublisherRow): Promise<NamedPublisher> {
  const { slug, name, images, slugs, secrets } = row;
  const state = await stateOf(row);
  const { extended_until } = row;
  const keyring = state.keyring && {
    ...state.keyring,
    ...(extended_until && { expires_at: extended_until.toISOString() }),
  };
  return { ...state, publisher: slug, name, images, slugs, secrets, keyring };
}

/** Keyrings by their text: each decision reads those of all publishers. */
const parsed = new Map<string, Promise<Keyring>>();
const MAX_PARSED = 100;

/** The keyring in a text that was accepted before. */
export function readKeyring(text: string): Promise<Keyring> {
  const known = parsed.get(text);
  if (known) return known;
  if (parsed.size >= MAX_PARSED) parsed.clear();
  const read = inspectKeyring(text).then(({ keyring }) => keyring);
  parsed.set(text, read);
  return read;
}

/** The keys of a publisher. The keyring was accepted when it was stored, and can have expired since. */
async function stateOf({ slug, root, keyring }: PublisherRow) {
  const known = keyring === null ? undefined : await readKeyring(keyring);
  return { publisher: slug, root: await readPublicKey(root), nextRoot: known?.next_root, keyring: known };
}

/** One writer at a time, so that the bound holds and keyrings only become newer. */
export const lockPublishers = (transaction: Pick<Transaction, '$executeRaw'>): Promise<number> =>
  transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('trust publishers', 0))`;

/**
 * Stores a newer keyring of a publisher. @returns the row
 * @throws Untrusted if it is refused; then nothing changes
 */
export async function acceptNewer(
  { trustPublisher }: Pick<Transaction, 'trustPublisher'>,
  row: PublisherRow,
  chain: KeyringChain,
  now: Date,
): Promise<PublisherRow> {
  if (chain.keyring === row.keyring) return row;
  const before = await stateOf(row);
  const { root, keyring } = await acceptChain(before, chain, { now });
  const isNewer = keyring?.version !== before.keyring?.version;
  return trustPublisher.update({
    where: { slug: row.slug },
    data: {
      root: { ...root },
      keyring: chain.keyring,
      expires_at: new Date(keyring?.expires_at ?? 0),
      ...(isNewer && { extended_until: null, extension_reason: null }),
      version: { increment: 1 },
    },
  });
}

/** A root key that an admin gives, in PEM or as a JWK. @throws 422 */
export async function readRoot(given: unknown): Promise<PublicKey> {
  try {
    return typeof given === 'string' ? await publicKeyOfPem(given) : await readPublicKey(given);
  } catch (error) {
    const message = error instanceof Untrusted ? error.detail : 'must be a public key in PEM: Ed25519 or P-256';
    throw new Problem('keyring_invalid', `The root key is not valid: ${message}.`, {
      errors: [{ path: 'root', message }],
    });
  }
}

/** The problem for a keyring that is refused. */
export function refusedKeyring(error: Untrusted): Problem {
  const { message, remedy } = reasons[error.reason];
  const isOutdated = error.reason === 'keyring_rollback' || error.reason === 'keyring_conflict';
  return new Problem(isOutdated ? 'keyring_outdated' : 'keyring_invalid', `${message} ${remedy}`, {
    errors: [{ path: 'keyring', message: error.message }],
  });
}
