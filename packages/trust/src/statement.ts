import { z } from 'zod';
import { digestOf, digestsOf, type Members } from './canonical.ts';
import { serial, slug, time, wrongMembers } from './forms.ts';
import { type Signer, signJws } from './jws.ts';
import { applications, type ContentKind, templates } from './kind.ts';
import { signedForm } from './members.ts';
import { Untrusted } from './reasons.ts';

/** The most members of a part. */
const MAX_PART_MEMBERS = 256;

const statementForm = z.looseObject({
  content: z.record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/), z.string().regex(/^[A-Za-z0-9_-]{43}$/)),
  issued_at: time,
  part_members: z
    .array(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/))
    .max(MAX_PART_MEMBERS)
    .optional(),
  publisher: z.string(),
  serial,
  slug: z.string(),
});

/** What a publisher signs about one content. Unknown members are not read. */
export interface Statement {
  /** The digest of each signed member, by its name. */
  readonly content: Readonly<Record<string, string>>;
  /** For people; not compared. */
  readonly issued_at: string;
  /** The members of a part that its digest covers. */
  readonly part_members?: readonly string[] | undefined;
  readonly publisher: string;
  /** A counter of the publisher, which increases with each signature of other content. */
  readonly serial: number;
  readonly slug: string;
}

/** @throws Untrusted `signature_invalid` */
export function readStatement(payload: unknown): Statement {
  const parsed = statementForm.safeParse(payload);
  if (!parsed.success) throw new Untrusted('signature_invalid', `the statement: ${wrongMembers(parsed.error)}`);
  return parsed.data;
}

interface Issue {
  readonly publisher: string;
  readonly serial: number;
  readonly issuedAt: Date;
}

/**
 * Signs content with all members that this version knows, with defaults written out.
 * @throws Error if the content has no valid slug, or of `signJws`
 */
export async function signContent(
  kind: ContentKind,
  given: Members,
  { publisher, serial: number, issuedAt }: Issue,
  signer: Signer,
): Promise<string> {
  const members = signedForm(given, kind);
  if (kind.parts && members.parts === undefined) throw new Error('The content has no parts with names.');
  const content = digestsOf(members, Object.keys(members));
  const unsigned = Object.keys(members).filter((name) => content[name] === undefined);
  if (unsigned.length > 0) {
    throw new Error(`${unsigned.join(', ')} must not contain text that cannot be signed, such as half of a character.`);
  }
  const statement = {
    content,
    issued_at: issuedAt.toISOString(),
    ...(kind.parts && { part_members: kind.parts.covered }),
    publisher: slug.parse(publisher),
    serial: serial.parse(number),
    slug: slug.parse(members.slug),
  };
  return signJws(statement, kind.typ, signer);
}

/** Signs a template. @throws as `signContent` */
export const signTemplate = (template: Members, issue: Issue, signer: Signer): Promise<string> =>
  signContent(templates, template, issue, signer);

/** The digest of everything that is signed: of the map of the digests of members. */
export const contentDigest = (content: Readonly<Record<string, string>>): string => digestOf(content) ?? '';

/** Signs an application. @throws as `signContent` */
export const signApplication = (application: Members, issue: Issue, signer: Signer): Promise<string> =>
  signContent(applications, application, issue, signer);

/**
 * The digest of what a publisher would sign of content as it was received.
 * @param kept the digests of members that the content does not have, because they were not kept
 */
export function contentDigestOf(
  content: Members,
  kind: ContentKind = templates,
  kept: Readonly<Record<string, string>> = {},
): string {
  const members = signedForm(content, kind);
  return contentDigest({ ...digestsOf(members, Object.keys(members)), ...kept });
}
