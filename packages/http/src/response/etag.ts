import { createHash, hash } from 'node:crypto';
import type { Request } from 'express';
import { invalid, Problem } from './problem.ts';

/**
 * Whether the client already has the representation with this entity tag (RFC 9110, section
 * 13.1.2).
 */
export type HasEtag = (etag: string) => boolean;

/** Evaluates `If-None-Match` with weak comparison (RFC 9110, section 8.8.3.2). */
export function hasEtagOf(req: Request): HasEtag {
  const given = req.headers['if-none-match'];
  if (given === undefined) return () => false;
  if (given.trim() === '*') return () => true;
  const tags = new Set(given.match(/"[\x21\x23-\x7e\x80-\xff]*"/g));
  return (etag) => tags.has(etag.replace(/^W\//, ''));
}

/** The strong entity tag of a body. */
export const etagOfBody = (body: string | Buffer): string => `"${digest(body)}"`;

/** As `etagOfBody`, for a body that is composed of parts. */
export function createBodyEtag() {
  const digested = createHash('sha256');
  return {
    add: (part: Buffer): void => void digested.update(part),
    etag: (): string => `"${shortened(digested.digest('base64url'))}"`,
  };
}

/**
 * The entity tag of a response that depends only on `state`. It is weak, because the bytes of the
 * response can differ.
 */
export const etagOfState = (...state: readonly unknown[]): string => `W/"${digest(JSON.stringify(state))}"`;

/** The strong entity tag of a resource with a version number, in its current representation. */
export const etagOfVersion = (version: number, representation: unknown): string =>
  `"${version}.${digest(JSON.stringify(representation))}"`;

/** Whether the precondition of a change is fulfilled for the current version of the resource. */
export type Matches = (version: number) => boolean;

const VERSION_TAG = /^"(\d{1,9})(?:\.[\w-]*)?"$/;

/**
 * Evaluates `If-Match` (RFC 9110, section 13.1.1). Its values are versions in quotes, or entity
 * tags of `etagOfVersion`, of which only the version is compared. Without the header, every version
 * matches. @throws 400 for other values
 */
export function matchesOf(req: Request): Matches {
  const given = req.headers['if-match'];
  if (given === undefined || given.trim() === '*') return () => true;
  const versions = given.split(',').map((tag) => {
    const [, version] = VERSION_TAG.exec(tag.trim()) ?? [];
    if (version === undefined)
      throw invalid([{ path: 'If-Match', message: 'must be a version in quotes, such as "3"' }]);
    return Number(version);
  });
  return (version) => versions.includes(version);
}

/**
 * Checks the version of a resource that is locked for a change.
 * @throws 412 if `If-Match` does not permit the version
 */
export function requireVersion(matches: Matches, version: number): void {
  if (matches(version)) return;
  throw new Problem(
    'version_conflict',
    `The resource has version ${version} now. Read it again and repeat the change.`,
  );
}

const shortened = (digested: string) => digested.slice(0, 27);

const digest = (text: string | Buffer) => shortened(hash('sha256', text, 'base64url'));
