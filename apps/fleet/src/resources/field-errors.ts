import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { invalid, Problem } from '@svc/http';

/** What is wrong with a member of a request. */
export interface Complaint {
  readonly path: string;
  readonly message: string;
}

/** @throws 400 where there are any, with all of them */
export function refuseAll(complaints: readonly Complaint[]): void {
  if (complaints.length > 0) throw invalid(complaints);
}

/** Somebody who uses something: what it is, and its name. */
export interface User {
  readonly kind: string;
  readonly name: string;
}

/** @throws 409 where there are any, with who they are */
export function refuseInUse(users: readonly User[]): void {
  if (users.length === 0) return;
  const named = users.slice(0, 3).map(({ kind, name }) => `${kind} ${name}`);
  const more = users.length > named.length ? ` and ${users.length - named.length} more` : '';
  throw new Problem('in_use', `It is in use by ${named.join(', ')}${more}: end that first.`, {
    errors: users.map(({ kind, name }) => ({ path: kind, message: name })),
  });
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** What is wrong with a text that should be certificates in PEM: beside them it could hold a key, which would be shown. */
export function complaintsOfCertificates(path: string, pem: string): Complaint[] {
  const blocks = pem.match(CERTIFICATE) ?? [];
  const isAlone = pem.replace(CERTIFICATE, '').trim() === '';
  if (blocks.length > 0 && isAlone && blocks.every((block) => certificateOf(block) !== undefined)) return [];
  const message = 'must be one or more certificates in PEM (-----BEGIN CERTIFICATE-----), and nothing else';
  return [{ path, message }];
}

/** What is wrong with a certificate and the key that should be its own. */
export function complaintsOfPair(certificate: { path: string; pem: string }, key: { path: string; pem: string }) {
  const complaints = complaintsOfCertificates(certificate.path, certificate.pem);
  const privateKey = keyOf(key.pem);
  if (!privateKey) complaints.push({ path: key.path, message: 'must be a private key in PEM, without a passphrase' });
  const [first = ''] = certificate.pem.match(CERTIFICATE) ?? [];
  const isPair = !privateKey || certificateOf(first)?.checkPrivateKey(privateKey) !== false;
  return isPair ? complaints : [...complaints, { path: key.path, message: 'is not the key of the certificate' }];
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
