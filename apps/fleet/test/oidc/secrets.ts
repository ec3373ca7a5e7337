import { randomBytes } from 'node:crypto';

/** The secrets of one sign-in. */
export const secrets = () => ({ state: random(), nonce: random(), codeVerifier: random() });

const random = () => randomBytes(32).toString('base64url');
