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

/** @throws 409 with all dependents if there are any; `remedy` states what else is possible */
export function refuseInUse(dependents: readonly Dependent[], remedy = ''): void {
  if (dependents.length === 0) return;
  const named = dependents.slice(0, 3).map(({ kind, name }) => `${kind} ${name}`);
  const more = dependents.length > named.length ? ` and ${dependents.length - named.length} more` : '';
  throw new Problem(
    'in_use',
    `The resource is in use by ${named.join(', ')}${more}. Remove these uses first.${remedy && ` ${remedy}`}`,
    {
      errors: dependents.map(({ kind, name }) => ({ path: kind, message: name })),
    },
  );
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

/** `keyPairErrors` for credentials of the fleet, which an engine accepts only while they are valid. */
export function clientCertificateErrors(
  certificate: { path: string; pem: string },
  key: { path: string; pem: string },
) {
  const errors = keyPairErrors(certificate, key);
  const [first] = certificatesIn(certificate.pem) ?? [];
  const message = first && validityProblem(first);
  return message === undefined ? errors : [...errors, { path: certificate.path, message }];
}

function validityProblem({ validFrom, validTo }: X509Certificate): string | undefined {
  const now = Date.now();
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  if (to < now) return `has expired on ${new Date(to).toISOString()}; send a certificate that is valid`;
  if (from <= now) return undefined;
  return `is not valid before ${new Date(from).toISOString()}; send a certificate that is valid now`;
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
