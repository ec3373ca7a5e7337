import { randomBytes } from 'node:crypto';

/** What one sign-in is known by. */
export const secrets = () => ({ state: random(), nonce: random(), codeVerifier: random() });

const random = () => randomBytes(32).toString('base64url');
