import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { templateDefaults } from '@svc/contract';
import {
  acceptKeyring,
  canonicalForm,
  type KeyState,
  type Members,
  publicKeyOfPem,
  type Scope,
  type Signer,
  signJws,
  signKeyring,
  signTemplate,
  type TrustedPublisher,
  types,
  Untrusted,
  verifyTemplate,
} from '../src/index.ts';

const DAY_MS = 86_400_000;
export const NOW = new Date('2026-06-01T00:00:00Z');
/** A time so many days after now. */
export const inDays = (days: number): string => new Date(NOW.getTime() + days * DAY_MS).toISOString();

/** A signer with a key of this process. */
export async function signerOf(privateKey: KeyObject): Promise<Signer> {
  const key = await publicKeyOfPem(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const hash = key.alg === 'ES256' ? 'sha256' : null;
  return { key, sign: (input) => sign(hash, input, { key: privateKey, dsaEncoding: 'ieee-p1363' }) };
}

/** An Ed25519 key with a published seed, so that failures can be repeated. */
export const fixedKey = (byte: number): Promise<Signer> => {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, byte)]);
  return signerOf(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
};

export const [root, nextRoot, first, stranger] = await Promise.all([
  fixedKey(1),
  fixedKey(2),
  fixedKey(3),
  fixedKey(4),
]);
export const second = await signerOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);

export const keyring = (version: number, keys: readonly object[], more: object = {}) => ({
  publisher: 'acme',
  version,
  issued_at: inDays(0),
  expires_at: inDays(90),
  keys,
  ...more,
});

/** Signs any payload as a keyring, also one that nobody would accept. */
export const sealed = (payload: object | string, by: Signer = root): Promise<string> => raw(payload, by, types.keyring);

/** Signs any payload with any header, also one that `signJws` would not make. */
export async function raw(
  payload: object | string,
  { key, sign: signInput }: Signer,
  typ: string,
  header: object = {},
): Promise<string> {
  const text = typeof payload === 'string' ? payload : canonicalForm(payload);
  const encode = (value: string) => Buffer.from(value, 'utf8').toString('base64url');
  const input = `${encode(JSON.stringify({ alg: key.alg, kid: key.kid, typ, ...header }))}.${encode(text ?? '')}`;
  return `${input}.${Buffer.from(await signInput(Buffer.from(input))).toString('base64url')}`;
}

const scope: Scope = { images: ['docker.io/library/*'], slugs: ['redis', 'debug-*'], secrets: ['acme-*'] };
export const unknownKeyring: TrustedPublisher = { publisher: 'acme', root: root.key, ...scope };

/** The publisher with another keyring, by default one of the version 2. */
export const withKeyring = async (
  keys: readonly object[],
  more: object = {},
  version = 2,
): Promise<TrustedPublisher> => ({
  ...unknownKeyring,
  ...(await accept(keyring(version, keys, more))),
});

export const accept = async (payload: object, state: KeyState = unknownKeyring, by: Signer = root) =>
  acceptKeyring(state, await sealed(payload, by), { now: NOW });

export const acme = await withKeyring([first.key, second.key], {}, 1);

export const content: Members = {
  ...structuredClone(templateDefaults),
  name: 'Redis',
  slug: 'redis',
  description: 'A store',
  documentation: '# Redis\nÜber — 数据 \u2028',
  version: '1.2.0',
  image_name: 'redis',
  image_tag: '8.2',
  image_digest: `sha256:${'a'.repeat(64)}`,
  env: [{ name: 'MODE', value: '1' }],
  ports: [{ containerPort: 6379, protocol: 'TCP' }],
  secret_refs: [{ name: 'acme-token', env: 'TOKEN' }],
  category_slug: 'databases',
  download_count: 7,
};

interface Signed {
  readonly members: Members;
  readonly signatures: readonly unknown[];
}

export const signed = async (
  changes: object = {},
  { serial = 5, key = first, publisher = 'acme' }: { serial?: number; key?: Signer; publisher?: string } = {},
): Promise<Signed> => {
  const members = { ...content, ...changes };
  return { members, signatures: [await signTemplate(members, { publisher, serial, issuedAt: NOW }, key)] };
};

export const good = await signed();

export type Options = Partial<Parameters<typeof verifyTemplate>[2]> & { readonly trust?: TrustedPublisher };

export const verify = ({ members, signatures }: Signed, { trust = acme, ...options }: Options = {}) =>
  verifyTemplate(members, signatures, { publishers: [trust], now: NOW, ...options });

/** The reason of a refusal, or `accepted`. */
export const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error: unknown) => {
      if (error instanceof Untrusted) return error.reason;
      throw error;
    },
  );

export { signJws, signKeyring };
