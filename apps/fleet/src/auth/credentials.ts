import { createHash, randomBytes } from 'node:crypto';

/** A new opaque credential of 256 bits. */
export const newCredential = (): string => randomBytes(32).toString('base64url');

/** What is kept of one. */
export const hashCredential = (credential: string): string => createHash('sha256').update(credential).digest('hex');
