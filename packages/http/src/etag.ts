import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { invalid } from './input.ts';

/** Tells whether the caller holds the answer of an entity tag already: RFC 9110, section 13.1.2. */
export type Holds = (etag: string) => boolean;

/** What `If-None-Match` says; tags are compared weakly (section 8.8.3.2). */
export function holdsOf(req: Request): Holds {
  const given = req.headers['if-none-match'];
  if (given === undefined) return () => false;
  if (given.trim() === '*') return () => true;
  const tags = new Set(given.match(/"[\x21\x23-\x7e\x80-\xff]*"/g));
  return (etag) => tags.has(etag.replace(/^W\//, ''));
}

/** The tag of a body, byte for byte. */
export const etagOfBody = (body: string): string => `"${digest(body)}"`;

/** The tag of an answer that depends on nothing else than this: weak, since not every byte of it need be the same. */
export const etagOfState = (...state: readonly unknown[]): string => `W/"${digest(JSON.stringify(state))}"`;

/** The strong tag of a thing that counts its changes: of this version, as it looks now. */
export const etagOfVersion = (version: number, looks: unknown): string =>
  `"${version}.${digest(JSON.stringify(looks))}"`;

/** Whether a change may go on, by the version of what it would change. */
export type Matches = (version: number) => boolean;

const VERSION_TAG = /^"(\d{1,9})(?:\.[\w-]*)?"$/;

/**
 * What `If-Match` says (RFC 9110, section 13.1.1): versions in quotes, or tags of `etagOfVersion`, of which the version
 * counts. Without it any version will do. @throws 400 for what is neither
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

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 27);

/** A reply whose tag is known from what it depends on. */
export class Tagged<R> {
  readonly reply: R;
  readonly etag: string;
  constructor(reply: R, etag: string) {
    this.reply = reply;
    this.etag = etag;
  }
}

/** Instead of a reply: the caller holds it already. */
export class Unchanged {
  readonly etag: string;
  constructor(etag: string) {
    this.etag = etag;
  }
}
