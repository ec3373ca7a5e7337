import { generateKeyPairSync, sign } from 'node:crypto';
import { type NewKeyring, publicKeyOfPem, type Signer, signApplication, signKeyring, signTemplate } from '@svc/trust';

/** A key of a publisher. */
export async function aSigner(): Promise<Signer> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = await publicKeyOfPem(publicKey.export({ type: 'spki', format: 'pem' }));
  return { key, sign: (input) => sign(null, input, privateKey) };
}

/** The signature of a template, of a publisher that the hub need not know. */
export const signatureOf = (template: object, signer: Signer, serial = 1): Promise<string> =>
  signTemplate({ ...template }, { publisher: 'acme', serial, issuedAt: new Date() }, signer);

/** The same of an application. */
export const signatureOfApplication = (application: object, signer: Signer, serial = 1): Promise<string> =>
  signApplication({ ...application }, { publisher: 'acme', serial, issuedAt: new Date() }, signer);

const DAY_MS = 86_400_000;

/** A keyring that is valid for a day. */
export const keyringOf = (root: Signer, given: Partial<NewKeyring> = {}): Promise<string> =>
  signKeyring(
    {
      publisher: 'acme',
      version: 1,
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + DAY_MS).toISOString(),
      keys: [],
      ...given,
    },
    root,
  );
