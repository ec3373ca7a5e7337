import { z } from 'zod';
import { canonicalForm } from './canonical.ts';
import { serial, slug, time, wrongMembers } from './forms.ts';
import { openJws, readHeader, readUnverified, type Signer, signJws, types } from './jws.ts';
import { type PublicKey, readPublicKey } from './keys.ts';
import { shown, Untrusted } from './reasons.ts';

const MAX_KEYS = 32;
const MAX_DAYS = 400;
const DAY_MS = 86_400_000;
/** The most keyrings that lead from an earlier root to the present one. */
export const MAX_TRANSITIONS = 8;

const keyringForm = z.looseObject({
  publisher: slug,
  version: serial,
  issued_at: time,
  expires_at: time,
  keys: z.array(z.looseObject({ last_serial: serial.optional(), revoked: z.literal(true).optional() })).max(MAX_KEYS),
  floors: z.record(slug, serial).optional(),
  next_root: z.looseObject({}).optional(),
});

/** A signing key in a keyring. */
export interface ListedKey extends PublicKey {
  /** The key is retired: what it signed later does not count. */
  readonly last_serial?: number | undefined;
  /** Nothing that it signed counts. */
  readonly revoked?: true | undefined;
}

/** The signing keys of a publisher. Unknown members are not read. */
export interface Keyring {
  readonly publisher: string;
  readonly version: number;
  readonly issued_at: string;
  readonly expires_at: string;
  readonly keys: readonly ListedKey[];
  /** By slug: lower serials are withdrawn. */
  readonly floors: Readonly<Record<string, number>>;
  readonly next_root?: PublicKey | undefined;
  /** The whole payload in canonical form, which is compared with that of another keyring. */
  readonly form: string;
}

/** The keys of a publisher: the root that is trusted, and what it has signed. */
export interface KeyState {
  /** The slug of the publisher. */
  readonly publisher: string;
  readonly root: PublicKey;
  /** The root that the present keyring announces. */
  readonly nextRoot?: PublicKey | undefined;
  readonly keyring?: Keyring | undefined;
}

/** Keyrings of a publisher, each as a JWS. */
export interface KeyringChain {
  /** Keyrings that announced a root, the oldest first. */
  readonly transitions: readonly string[];
  readonly keyring: string;
}

interface Acceptance {
  readonly now: Date;
  /** The keyring only leads to a later root, so it can have expired. */
  readonly isTransition?: boolean;
}

/**
 * Accepts a keyring that is signed by the trusted root, or by the next one that the present keyring announces.
 * @returns the new state. The given one is not changed
 * @throws Untrusted
 */
export async function acceptKeyring(state: KeyState, jws: unknown, acceptance: Acceptance): Promise<KeyState> {
  const read = readHeader(jws, types.keyring);
  const root = [state.root, state.nextRoot].find((each) => each?.kid === read.header.kid);
  if (!root) throw new Untrusted('unknown_key', shown(read.header.kid));
  const keyring = await readKeyring(await openJws(read, root));
  if (keyring.publisher !== state.publisher) throw new Untrusted('keyring_invalid', 'is of another publisher');
  const known = state.keyring;
  if (known && keyring.version < known.version) {
    throw new Untrusted('keyring_rollback', `version ${keyring.version} after ${known.version}`);
  }
  if (known && keyring.version === known.version && keyring.form !== known.form) {
    throw new Untrusted('keyring_conflict', `version ${keyring.version}`);
  }
  if (!acceptance.isTransition && isExpired(keyring, acceptance.now)) {
    throw new Untrusted('keyring_expired', keyring.expires_at);
  }
  return { publisher: state.publisher, root, nextRoot: keyring.next_root, keyring };
}

/**
 * Applies the keyrings that lead from an earlier root to the present one, and then the newest. Transitions that do not apply
 * are skipped, such as those from before.
 * @throws Untrusted if the newest keyring is refused. Then nothing changes
 */
export async function acceptChain(
  state: KeyState,
  { transitions, keyring }: KeyringChain,
  { now }: { readonly now: Date },
): Promise<KeyState> {
  let present = state;
  for (const transition of transitions.slice(0, MAX_TRANSITIONS)) {
    present = await acceptKeyring(present, transition, { now, isTransition: true }).catch((error: unknown) => {
      if (error instanceof Untrusted) return present;
      throw error;
    });
  }
  return acceptKeyring(present, keyring, { now });
}

/** Whether a keyring does not count any more. */
export const isExpired = ({ expires_at }: Pick<Keyring, 'expires_at'>, now: Date): boolean =>
  Date.parse(expires_at) <= now.getTime();

/** @throws Untrusted `keyring_invalid` */
async function readKeyring(payload: Record<string, unknown>): Promise<Keyring> {
  const parsed = keyringForm.safeParse(payload);
  if (!parsed.success) throw new Untrusted('keyring_invalid', wrongMembers(parsed.error));
  const { publisher, version, issued_at, expires_at, floors = {}, next_root, keys } = parsed.data;
  const validity = Date.parse(expires_at) - Date.parse(issued_at);
  if (validity < 0 || validity > MAX_DAYS * DAY_MS) {
    throw new Untrusted('keyring_invalid', `expires_at must be at most ${MAX_DAYS} days after issued_at`);
  }
  const listed: ListedKey[] = [];
  for (const key of keys) {
    const { last_serial, revoked } = key;
    const own = { ...(last_serial !== undefined && { last_serial }), ...(revoked !== undefined && { revoked }) };
    listed.push({ ...(await readPublicKey(key)), ...own });
  }
  if (new Set(listed.map(({ kid }) => kid)).size < listed.length) {
    throw new Untrusted('keyring_invalid', 'a key is listed twice');
  }
  return {
    publisher,
    version,
    issued_at,
    expires_at,
    keys: listed,
    floors,
    next_root: next_root === undefined ? undefined : await readPublicKey(next_root),
    form: canonicalForm(payload) ?? '',
  };
}

/** A keyring to be signed. */
export type NewKeyring = Omit<Keyring, 'form' | 'floors'> & { readonly floors?: Readonly<Record<string, number>> };

/**
 * Signs a keyring with the root key of its publisher.
 * @throws Untrusted `keyring_invalid` for a keyring that nobody would accept, or an Error of `signJws`
 */
export async function signKeyring(keyring: NewKeyring, root: Signer): Promise<string> {
  await readKeyring({ ...keyring });
  return signJws(keyring, types.keyring, root);
}

/** A keyring that nobody has verified. */
interface InspectedKeyring {
  /** The key that made it, according to itself. */
  readonly kid: string;
  readonly keyring: Keyring;
}

/**
 * Reads a keyring without a trusted root, for those who keep it. It states nothing about trust.
 * @throws Untrusted `signature_invalid`, `keyring_invalid`
 */
export async function inspectKeyring(jws: unknown): Promise<InspectedKeyring> {
  const read = readHeader(jws, types.keyring);
  return { kid: shown(read.header.kid), keyring: await readKeyring(readUnverified(read)) };
}
