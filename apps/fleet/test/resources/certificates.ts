import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate and its key, as PEM. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

const ED25519 = der(0x30, der(0x06, Buffer.from([0x2b, 0x65, 0x70])));

/** A new self-signed certificate of Ed25519 (RFC 5280, RFC 8410), valid in a period in UTC. */
export function aPair(name = 'engine.example.test', until = '490101000000Z', from = '260101000000Z'): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const commonName = der(0x30, der(0x06, Buffer.from([0x55, 0x04, 0x03])), der(0x0c, Buffer.from(name)));
  const subject = der(0x30, der(0x31, commonName));
  const times = [from, until].map((time) => der(0x17, Buffer.from(time)));
  const serial = der(0x02, Buffer.from([1]), randomBytes(8));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const content = der(0x30, serial, ED25519, subject, der(0x30, ...times), subject, spki);
  const signature = der(0x03, Buffer.from([0]), sign(null, content, privateKey));
  const lines =
    der(0x30, content, ED25519, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return {
    certificate: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    // The format `pem` returns a string.
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** A value in DER: its tag, the length of its content, and its content. */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
