import { createHash } from 'node:crypto';
import type { Request } from 'express';

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
