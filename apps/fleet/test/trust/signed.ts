import { generateKeyPairSync, sign } from 'node:crypto';
import type { Application, Template } from '@svc/contract';
import { deletionOf } from '@svc/testing';
import { type NewKeyring, publicKeyOfPem, type Signer, signApplication, signKeyring, signTemplate } from '@svc/trust';
import type { DeploymentWorld } from '../deployments/world.ts';

const DAY_MS = 86_400_000;
const TABLES = ['trust_publishers', 'trust_memory', 'trust_slugs', 'trust_policy'];

/** A key of a publisher. */
export async function aSigner(): Promise<Signer> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = await publicKeyOfPem(publicKey.export({ type: 'spki', format: 'pem' }));
  return { key, sign: (input) => sign(null, input, privateKey) };
}

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

/** A template with a signature of its content. */
export const signedBy = async (
  signer: Signer,
  template: Template,
  { serial = 1, publisher = 'acme' }: { readonly serial?: number; readonly publisher?: string } = {},
): Promise<Template> => ({
  ...template,
  signatures: [await signTemplate({ ...template }, { publisher, serial, issuedAt: new Date() }, signer)],
});

/** An application with a signature of its content. */
export const signedApplicationBy = async (
  signer: Signer,
  application: Application,
  { serial = 1, publisher = 'acme' }: { readonly serial?: number; readonly publisher?: string } = {},
): Promise<Application> => ({
  ...application,
  signatures: [await signApplication({ ...application }, { publisher, serial, issuedAt: new Date() }, signer)],
});

/** What a test needs to make a fleet trust a publisher. */
export async function aPublisher(fleet: DeploymentWorld) {
  const [root, key] = await Promise.all([aSigner(), aSigner()]);
  const admin = fleet.world.asAdmin;
  return {
    root,
    key,
    /** Trusts the publisher, with a keyring that was imported by hand. */
    trust: async (given: object = {}) => {
      const body = { slug: 'acme', name: 'Acme', root: root.key, images: ['*'], secrets: ['*'], ...given };
      const trusted = await admin.post('/api/v1/settings/publishers', body);
      if (trusted.status !== 201) throw new Error(`the publisher is not trusted: ${trusted.text}`);
      return admin.put('/api/v1/settings/publishers/acme/keyring', {
        keyring: await keyringOf(root, { keys: [key.key] }),
      });
    },
    policy: (policy: object) => admin.put('/api/v1/settings/trust', policy),
    forget: () => fleet.client.$executeRawUnsafe(deletionOf(TABLES)),
  };
}
