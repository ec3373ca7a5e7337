import { hash, randomBytes } from 'node:crypto';

/** A new opaque credential of 256 bits. */
export const newCredential = (): string => randomBytes(32).toString('base64url');

/** The stored form of a credential: its SHA-256 hash. */
export const hashCredential = (credential: string): string => hash('sha256', credential, 'hex');
