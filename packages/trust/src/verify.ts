import { digestsOf, type Members } from './canonical.ts';
import { openJws, payloadOf, readHeader, readUnverified } from './jws.ts';
import { isExpired, type Keyring, type KeyState, type ListedKey } from './keyring.ts';
import { type ContentKind, templates } from './kind.ts';
import { isDefault, signedForm } from './members.ts';
import { digestNameOf, partOfDigest, partsIn, shownDigest, withDigestedParts } from './parts.ts';
import { shown, Untrusted } from './reasons.ts';
import type { Scope } from './scope.ts';
import { contentDigest, readStatement, type Statement } from './statement.ts';

/** The most signatures of a content. */
export const MAX_SIGNATURES = 8;

/** A publisher that a fleet trusts. */
export interface TrustedPublisher extends KeyState, Scope {}

/** The highest serial that was verified of a content, for each key. */
export interface Remembered {
  readonly publisher: string;
  /** As `keyOf` of the kind names the content. */
  readonly slug: string;
  readonly kid: string;
  readonly serial: number;
  /** `contentDigest` of what was signed. */
  readonly content: string;
}

/** What a fleet has verified of the content before. */
export interface History {
  readonly remembered: readonly Remembered[];
  /** The publisher of the slug; undefined if none was verified. */
  readonly owner: string | undefined;
}

interface Verification {
  readonly publishers: readonly TrustedPublisher[];
  readonly now: Date;
  /** Undefined for a stored revision, which was compared when it was made: choosing an older one is not the hub's doing. */
  readonly history?: History | undefined;
  /** Digests of members that a stored revision does not keep. */
  readonly kept?: Readonly<Record<string, string>> | undefined;
  /** Whether the image must be named by digest. */
  readonly requiresDigest?: boolean | undefined;
  /** The covered members that this reader knows. */
  readonly known?: readonly string[] | undefined;
  /** What the signatures must be about. Default: templates. */
  readonly kind?: ContentKind | undefined;
}

export interface Verified {
  readonly publisher: string;
  readonly kid: string;
  readonly serial: number;
  /** The signed members that this reader does not know. */
  readonly ignored: readonly string[];
  /** The digest of each signed member. */
  readonly digests: Readonly<Record<string, string>>;
  /** What is to be remembered, in the transaction that uses the result. */
  readonly remember: Remembered;
}

/**
 * Verifies content as it was received. Nothing is written. The first valid signature counts. The cost is that of at most
 * `MAX_SIGNATURES` signatures.
 * @throws Untrusted with the reason of the first signature whose key is known
 */
export async function verifyTemplate(
  members: Members,
  signatures: unknown,
  verification: Verification,
): Promise<Verified> {
  if (!Array.isArray(signatures) || signatures.length === 0) throw new Untrusted('unsigned');
  if (signatures.length > MAX_SIGNATURES) {
    throw new Untrusted('signature_invalid', `there are more than ${MAX_SIGNATURES}`);
  }
  const failures: Untrusted[] = [];
  for (const signature of signatures) {
    try {
      return await verifySignature(members, signature, verification);
    } catch (error) {
      if (!(error instanceof Untrusted)) throw error;
      failures.push(error);
    }
  }
  throw failures.find(({ reason }) => reason !== 'unknown_key') ?? failures[0];
}

async function verifySignature(members: Members, signature: unknown, verification: Verification): Promise<Verified> {
  const { publishers, now, kept, history, requiresDigest = false, kind = templates } = verification;
  const { known = kind.covered } = verification;
  const read = readHeader(signature, kind.typ);
  const { statement, publisher, keyring, key } = await readSigned(read, publishers);
  refuseKey(statement, { keyring, key, now });
  const digests = refuseChanges(statement, { members, known, kept, kind });
  kind.refuseOutside(publisher, statement.slug, members);
  if (requiresDigest) kind.refuseUnpinned(members);
  const floor = Object.hasOwn(keyring.floors, statement.slug) ? (keyring.floors[statement.slug] ?? 0) : 0;
  if (statement.serial < floor) throw new Untrusted('revision_withdrawn', `serial ${statement.serial}, below ${floor}`);
  const remember = {
    publisher: publisher.publisher,
    slug: kind.keyOf(statement.slug),
    kid: key.kid,
    serial: statement.serial,
    content: contentDigest(statement.content),
  };
  if (history) refuseHistory(remember, history, keyring);
  return {
    publisher: publisher.publisher,
    kid: key.kid,
    serial: statement.serial,
    ignored: ignoredMembers(statement, known, kind),
    digests,
    remember,
  };
}

interface Signed {
  readonly statement: Statement;
  readonly publisher: TrustedPublisher;
  readonly keyring: Keyring;
  readonly key: ListedKey;
}

/** The statement that a trusted publisher signed. Several publishers can list one key: the statement decides whose keyring counts. */
async function readSigned(
  read: ReturnType<typeof readHeader>,
  publishers: readonly TrustedPublisher[],
): Promise<Signed> {
  const { kid } = read.header;
  const candidates = publishers.flatMap((publisher) => {
    const { keyring } = publisher;
    const key = keyring?.keys.find((each) => each.kid === kid);
    return keyring && key ? [{ publisher, keyring, key }] : [];
  });
  const [first] = candidates;
  if (!first) {
    const reason = publishers.some(({ keyring }) => keyring === undefined) ? 'keyring_missing' : 'unknown_key';
    throw new Untrusted(reason, shown(kid));
  }
  const statement = readStatement(await openJws(read, first.key));
  const named = candidates.find(({ publisher }) => publisher.publisher === statement.publisher);
  if (!named) throw new Untrusted('signature_invalid', 'the key belongs to another publisher');
  return { statement, ...named };
}

/** @throws Untrusted */
function refuseKey(
  { serial }: Statement,
  { keyring, key, now }: { readonly keyring: Keyring; readonly key: ListedKey; readonly now: Date },
): void {
  if (isExpired(keyring, now)) throw new Untrusted('keyring_expired', keyring.expires_at);
  if (key.revoked) throw new Untrusted('key_revoked', key.kid);
  if (key.last_serial !== undefined && serial > key.last_serial) {
    throw new Untrusted('key_retired', `serial ${serial}, after ${key.last_serial}`);
  }
}

interface Received {
  readonly members: Members;
  readonly known: readonly string[];
  readonly kept: Readonly<Record<string, string>> | undefined;
  readonly kind: ContentKind;
}

/**
 * Compares content with what was signed.
 * @returns the digest of each signed member
 * @throws Untrusted
 */
function refuseChanges(statement: Statement, { members, known, kept, kind }: Received): Record<string, string> {
  const { content, slug, part_members = [] } = statement;
  const names = Object.keys(content);
  const isCovered = (name: string) => Object.hasOwn(content, name);
  const uncovered = [
    ...known.filter((name) => !isCovered(name) && !isDefault(name, members[name], kind)),
    ...['name', 'slug'].filter((name) => !isCovered(name)),
  ];
  const ofParts = uncoveredInParts(statement, members, kind);
  if (uncovered.length + ofParts.length > 0) {
    const detail = [...new Set([...uncovered, ...ofParts.map(({ text }) => text)])].join(', ');
    throw new Untrusted('uncovered_member', detail, [...new Set(ofParts.map(({ part }) => part))]);
  }
  const digested = kind.parts ? withDigestedParts(members, part_members) : members;
  const present = { ...kept, ...digestsOf(digested, names) };
  const changed = names.filter((name) => !Object.hasOwn(present, name) || present[name] !== content[name]);
  if (changed.length > 0) {
    const parts = changed.flatMap((name) => partOfDigest(name) ?? []);
    throw new Untrusted('content_changed', changed.map(shownDigest).join(', '), parts);
  }
  if (slug !== members.slug) throw new Untrusted('other_template', shown(slug));
  return { ...content };
}

/** The parts that are not signed, and the members of parts that the signature does not cover and that do not have their defaults. */
function uncoveredInParts(
  { content, part_members = [] }: Statement,
  members: Members,
  { parts: form }: ContentKind,
): { readonly part: string; readonly text: string }[] {
  if (!form) return [];
  const unknown = form.covered.filter((name) => !part_members.includes(name));
  return (partsIn(members) ?? []).flatMap(([part, own]) => {
    if (!Object.hasOwn(content, digestNameOf(part))) return [{ part, text: `part ${shown(part)}` }];
    const injected = unknown.filter((name) => !isDefault(name, own[name], form));
    return injected.map((name) => ({ part, text: `${name} of the part ${part}` }));
  });
}

/** The signed members that this reader does not know, also those of parts. */
function ignoredMembers(
  { content, part_members = [] }: Statement,
  known: readonly string[],
  { parts }: ContentKind,
): string[] {
  const isKnown = (name: string) => known.includes(name) || (parts !== undefined && partOfDigest(name) !== undefined);
  const ofParts = parts ? part_members.filter((name) => !parts.covered.includes(name)) : [];
  return [...Object.keys(content).filter((name) => !isKnown(name)), ...ofParts.map((name) => `parts.${name}`)];
}

/**
 * Compares a template with what was verified before. The memory of a key that the publisher has revoked or removed does not
 * count, so that a stolen key cannot block later serials.
 * @throws Untrusted
 */
function refuseHistory(own: Remembered, { remembered, owner }: History, { keys }: Keyring): void {
  const counting = new Set(keys.filter(({ revoked }) => !revoked).map(({ kid }) => kid));
  const seen = remembered.filter(
    ({ publisher, slug, kid }) => publisher === own.publisher && slug === own.slug && counting.has(kid),
  );
  const highest = Math.max(0, ...seen.map(({ serial }) => serial));
  if (own.serial < highest) throw new Untrusted('rollback', `serial ${own.serial}, after ${highest}`);
  if (seen.some(({ serial, content }) => serial === own.serial && content !== own.content)) {
    throw new Untrusted('equivocation', `serial ${own.serial}`);
  }
  if (owner !== undefined && owner !== own.publisher) throw new Untrusted('publisher_changed', `from ${owner}`);
}

/** A signature that nobody has verified. */
export interface Inspected {
  readonly kid: string;
  readonly statement: Statement;
}

/**
 * Reads a signature and compares it with its content, without a key: whether it is about this content, not who made it.
 * @throws Untrusted
 */
export function inspectSignature(members: Members, signature: unknown, kind: ContentKind = templates): Inspected {
  const inspected = readSignature(signature, kind);
  refuseChanges(inspected.statement, { members, known: kind.covered, kept: undefined, kind });
  return inspected;
}

/** Reads a signature without a key. @throws Untrusted `signature_invalid` */
export function readSignature(signature: unknown, { typ }: Pick<ContentKind, 'typ'> = templates): Inspected {
  const read = readHeader(signature, typ);
  return { kid: shown(read.header.kid), statement: readStatement(readUnverified(read)) };
}

/**
 * The members that a signature names, whether it is valid or not: what must be kept so that it can be verified later.
 * @throws Untrusted `signature_invalid` if it has not the form of a signature of the kind
 */
export function membersNamedIn(signature: unknown, { typ }: Pick<ContentKind, 'typ'> = templates): string[] {
  const { content } = Object(payloadOf(readHeader(signature, typ)));
  return Object.keys(Object(content));
}

/** The covered members in which two contents differ. A part counts as a member, as `part_` and its name. */
export function changedMembers(before: Members, after: Members, kind: ContentKind = templates): string[] {
  const digests = (members: Members) => {
    const form = signedForm(members, kind);
    return digestsOf(form, Object.keys(form));
  };
  const [first, second] = [digests(before), digests(after)];
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return names.filter((name) => first[name] !== second[name]);
}
