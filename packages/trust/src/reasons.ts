/** Who can remove a reason. */
type Party = 'publisher' | 'admin' | 'hub';

interface Explanation {
  /** What is wrong. */
  readonly message: string;
  /** What to do. */
  readonly remedy: string;
  /** Who must do it. */
  readonly by: readonly Party[];
}

const SIGN_AGAIN = 'The publisher signs the template again, and its signatures are imported into the hub.';
const EXTEND_SCOPE = 'An admin extends the scope of the publisher, or the publisher changes the template.';

/** Why a template or a keyring is refused. */
export const reasons = {
  unsigned: {
    message: 'The template has no signatures.',
    remedy: 'The publisher signs the template, and its signatures are imported into the hub.',
    by: ['publisher'],
  },
  signature_invalid: {
    message: 'A signature is malformed, or was not made by the key that it names.',
    remedy: SIGN_AGAIN,
    by: ['publisher', 'hub'],
  },
  keyring_missing: {
    message: 'There is no keyring of the publisher yet.',
    remedy: 'Synchronize with a hub that has the keyring, or import the keyring that the publisher provides.',
    by: ['admin'],
  },
  unknown_key: {
    message: 'No trusted publisher lists the key of the signature.',
    remedy: 'An admin adds the publisher with its root key, if it is to be trusted.',
    by: ['admin'],
  },
  keyring_expired: {
    message: 'The keyring of the publisher has expired.',
    remedy: 'The publisher issues a new keyring. Until then, an admin can extend this one once by seven days.',
    by: ['publisher'],
  },
  key_revoked: {
    message: 'The publisher has revoked the key of the signature.',
    remedy: SIGN_AGAIN,
    by: ['publisher'],
  },
  key_retired: {
    message: 'The publisher has retired the key before this signature.',
    remedy: 'The publisher signs the template with a key that is in use, and its signatures are imported into the hub.',
    by: ['publisher'],
  },
  uncovered_member: {
    message: 'The signature does not cover everything that the template states.',
    remedy: SIGN_AGAIN,
    by: ['publisher'],
  },
  content_changed: {
    message: 'The template is not what the publisher signed.',
    remedy: 'Import the signed files of the publisher into the hub again, and examine who changed the template.',
    by: ['hub'],
  },
  other_template: {
    message: 'The signature is that of another template.',
    remedy: 'Import the signed files of the publisher into the hub again, and examine who changed the template.',
    by: ['hub'],
  },
  slug_out_of_scope: {
    message: 'The publisher must not publish this slug here.',
    remedy: EXTEND_SCOPE,
    by: ['admin'],
  },
  image_out_of_scope: {
    message: 'The publisher must not publish this image here.',
    remedy: EXTEND_SCOPE,
    by: ['admin'],
  },
  secret_out_of_scope: {
    message: 'The publisher must not use these secrets here.',
    remedy: EXTEND_SCOPE,
    by: ['admin'],
  },
  image_not_pinned: {
    message: 'The template names an image without its digest.',
    remedy: 'The publisher writes the digest of the image into the template, and signs it again.',
    by: ['publisher'],
  },
  revision_withdrawn: {
    message: 'The publisher has withdrawn this revision of the template.',
    remedy: 'Use a later revision.',
    by: ['publisher'],
  },
  rollback: {
    message: 'A later revision of the template was verified before.',
    remedy: 'Import the newest signed files of the publisher into the hub.',
    by: ['hub'],
  },
  equivocation: {
    message: 'Another content was signed with the same serial.',
    remedy: 'Ask the publisher which one is right. The publisher signs it with a new serial.',
    by: ['hub', 'publisher'],
  },
  publisher_changed: {
    message: 'Another publisher was verified for this slug before.',
    remedy: 'An admin assigns the slug to the other publisher, if the change is intended.',
    by: ['admin'],
  },
  keyring_invalid: {
    message: 'The keyring is not valid.',
    remedy: 'The publisher issues a valid keyring.',
    by: ['publisher'],
  },
  keyring_rollback: {
    message: 'The keyring is older than the one that is known.',
    remedy: 'Use the newest keyring of the publisher.',
    by: ['hub'],
  },
  keyring_conflict: {
    message: 'Another keyring has the same version.',
    remedy: 'The publisher issues a keyring with a later version.',
    by: ['publisher'],
  },
} as const satisfies Readonly<Record<string, Explanation>>;

export type Reason = keyof typeof reasons;

/** What is wrong with a content, and what to do. `noun` is what its kind calls it. */
export function explanationOf(reason: Reason, noun: string): Omit<Explanation, 'by'> {
  const { message, remedy } = reasons[reason];
  return { message: message.replaceAll('template', noun), remedy: remedy.replaceAll('template', noun) };
}

/** A refusal of a template or a keyring. The message begins with the reason. */
export class Untrusted extends Error {
  override name = 'Untrusted';
  readonly reason: Reason;
  /** What the reason is about, such as the names of members; '' if there is nothing more to say. */
  readonly detail: string;
  /** The names of the parts of an application that the reason is about. */
  readonly parts: readonly string[];
  constructor(reason: Reason, detail = '', parts: readonly string[] = []) {
    super(detail === '' ? reason : `${reason}: ${detail}`);
    this.reason = reason;
    this.detail = detail;
    this.parts = parts;
  }
}

/** The start of a text from outside, for a detail. */
export const shown = (value: unknown): string => String(value).slice(0, 64);
