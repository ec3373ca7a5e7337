import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { FieldError } from '@svc/contract';
import { invalid, Problem } from '@svc/http';

/** @throws 400 with all field errors if there are any */
export function refuseFieldErrors(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(errors);
}

/** A resource that uses another one: its kind and name. */
export interface Dependent {
  readonly kind: string;
  readonly name: string;
}

/** @throws 409 with all dependents if there are any */
export function refuseInUse(dependents: readonly Dependent[]): void {
  if (dependents.length === 0) return;
  const named = dependents.slice(0, 3).map(({ kind, name }) => `${kind} ${name}`);
  const more = dependents.length > named.length ? ` and ${dependents.length - named.length} more` : '';
  throw new Problem('in_use', `The resource is in use by ${named.join(', ')}${more}. Remove these uses first.`, {
    errors: dependents.map(({ kind, name }) => ({ path: kind, message: name })),
  });
}

const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';

/**
 * The certificates in a text, each with its delimiters; undefined if the text contains anything
 * else.
 */
function certificatesIn(pem: string): X509Certificate[] | undefined {
  const parts = pem.split(END);
  if (parts.pop()?.trim() !== '' || parts.length === 0) return undefined;
  const certificates = parts.map((part) => {
    const block = part.trimStart();
    return block.lastIndexOf(BEGIN) === 0 ? certificateOf(`${block}${END}`) : undefined;
  });
  return certificates.every((certificate) => certificate !== undefined) ? certificates : undefined;
}

/**
 * Validates certificates in PEM. Other content is an error, because the API returns certificates
 * and it could be a private key.
 */
export function certificateErrors(path: string, pem: string): FieldError[] {
  if (certificatesIn(pem)) return [];
  const message = 'must be one or more certificates in PEM (-----BEGIN CERTIFICATE-----), and nothing else';
  return [{ path, message }];
}

/** Validates a certificate chain in PEM and the private key of its first certificate. */
export function keyPairErrors(certificate: { path: string; pem: string }, key: { path: string; pem: string }) {
  const errors = certificateErrors(certificate.path, certificate.pem);
  const privateKey = keyOf(key.pem);
  if (!privateKey) errors.push({ path: key.path, message: 'must be a private key in PEM, without a passphrase' });
  const [first] = certificatesIn(certificate.pem) ?? [];
  const isPair = !privateKey || first?.checkPrivateKey(privateKey) !== false;
  return isPair ? errors : [...errors, { path: key.path, message: 'is not the key of the certificate' }];
}

function certificateOf(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function keyOf(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
