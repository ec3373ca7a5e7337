import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../errors.ts';

/** What a client of an engine needs for TLS: PEM texts. */
export interface TlsCredentials {
  readonly ca_certificate: string;
  readonly certificate: string;
  readonly key: string;
}

/** The files of a folder, as Docker and docs/remote-machine.md name them. */
const FILES = { ca_certificate: 'ca.pem', certificate: 'cert.pem', key: 'key.pem' } as const;

/**
 * Reads a TLS bundle: a folder with `ca.pem`, `cert.pem` and `key.pem`, or one PEM file with the key,
 * the client certificate and the certificate authority, in any order.
 * @throws UsageError if a part is missing
 */
export function readTls(place: string): TlsCredentials {
  if (!existsSync(place)) throw new UsageError(`${place} does not exist.`);
  return statSync(place).isDirectory() ? readFolder(place) : readBundle(readFileSync(place, 'utf8'), place);
}

function readFolder(folder: string): TlsCredentials {
  const missing = Object.values(FILES).filter((name) => !existsSync(path.join(folder, name)));
  if (missing.length > 0) throw new UsageError(`${folder} has no ${missing.join(', ')}.`);
  const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
  return { ca_certificate: read(FILES.ca_certificate), certificate: read(FILES.certificate), key: read(FILES.key) };
}

const BLOCK = /-----BEGIN ([A-Z ]{1,40})-----[A-Za-z0-9+/=\s]*-----END \1-----/g;

function readBundle(text: string, file: string): TlsCredentials {
  const blocks = [...text.matchAll(BLOCK)].map(([pem, label = '']) => ({ pem: `${pem}\n`, label }));
  const key = blocks.find(({ label }) => label.endsWith('PRIVATE KEY'))?.pem;
  const certificates = blocks.filter(({ label }) => label === 'CERTIFICATE').map(({ pem }) => pem);
  const authorities = certificates.filter((pem) => new X509Certificate(pem).ca);
  const own = certificates.filter((pem) => !authorities.includes(pem));
  if (key === undefined || own.length === 0 || authorities.length === 0) {
    throw new UsageError(
      `${file} must contain a private key, a client certificate and the certificate of its authority.`,
    );
  }
  return { ca_certificate: authorities.join(''), certificate: own.join(''), key };
}
