import { createHmac, randomBytes } from 'node:crypto';

// Standard Webhooks (https://www.standardwebhooks.com), symmetric signatures.

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new signing secret, in the form in which receivers configure it. */
export const newSigningSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

interface Message {
  /** Identifies the message: the same in each attempt. */
  readonly id: string;
  readonly body: string;
}

/** The headers of a message that is sent now, signed with each secret. */
export function signedHeaders({ id, body }: Message, secrets: readonly string[], now = new Date()) {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
