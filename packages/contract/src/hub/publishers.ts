import { z } from 'zod';
import { endpoint } from '../shared/endpoint.ts';
import { MEBIBYTE } from '../shared/reads.ts';
import { timestamp } from '../shared/timestamp.ts';
import { slug, storedName } from '../shared/wire.ts';

/** The most publishers of a hub, and the most that their keyrings have together, in characters. */
export const MAX_PUBLISHERS = 1000;
export const MAX_KEYRING_CHARACTERS = 4 * MEBIBYTE;

const MAX_KEYRING = 256 * 1024;
const MAX_TRANSITIONS = 8;
const BODY_LIMIT = 4 * MEBIBYTE;

/** A keyring as a compact JWS. */
const newKeyring = z
  .string()
  .max(MAX_KEYRING, `must have at most ${MAX_KEYRING} characters`)
  .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'must be a compact JWS, as the command keys writes it');

const transitions = 'Earlier keyrings that announced another root key, the oldest first';

/** A publisher, as everyone reads it. Fleets verify the keyring with the root key that they trust. */
const publisher = z
  .object({
    slug: z.string(),
    name: z.string(),
    keyring: z.string().meta({ description: 'The signing keys of the publisher, as a compact JWS' }),
    transitions: z.array(z.string()).meta({ description: transitions }),
  })
  .meta({ id: 'Publisher' });

const managedPublisher = publisher
  .extend({
    version: z.int().meta({ description: 'The version of the keyring' }),
    expires_at: timestamp.meta({ description: 'When the keyring expires' }),
    root: z.string().meta({ description: 'The thumbprint of the root key (RFC 7638)' }),
    updated_at: timestamp,
  })
  .meta({ id: 'ManagedPublisher' });

const rootKey = z
  .looseObject({
    kty: z.string().max(8),
    crv: z.string().max(16),
    alg: z.string().max(16),
    kid: z.string().max(64),
    x: z.string().max(128),
    y: z.string().max(128).optional(),
  })
  .meta({ id: 'PublicKey', description: 'A public key (JWK): Ed25519 or P-256' });

const bySlug = z.strictObject({ slug });

const reads = { rows: MAX_PUBLISHERS + 50, bytes: 2 * MAX_KEYRING_CHARACTERS };

/** Publishers of signed templates, with the keyrings that fleets fetch. */
export const hubPublisherEndpoints = {
  listPublishers: endpoint({
    operationId: 'listPublishers',
    method: 'get',
    path: '/api/v1/catalog/publishers',
    access: 'catalog',
    tag: 'catalog',
    summary: 'List the publishers of signed templates with their keyrings',
    reads,
    reply: z.object({ publishers: z.array(publisher) }),
  }),
  listAllPublishers: endpoint({
    operationId: 'listAllPublishers',
    method: 'get',
    path: '/api/v1/admin/publishers',
    access: 'admin',
    tag: 'admin',
    summary: 'List the publishers of signed templates, with the expiry of their keyrings',
    reads,
    reply: z.object({ publishers: z.array(managedPublisher) }),
  }),
  setPublisher: endpoint({
    operationId: 'setPublisher',
    method: 'put',
    path: '/api/v1/admin/publishers/:slug',
    access: 'admin',
    tag: 'admin',
    summary: 'Add a publisher, or replace its keyring with a newer one',
    params: bySlug,
    body: z
      .strictObject({
        name: storedName,
        root: rootKey.meta({
          description: 'The root key. The hub keeps the first one, and follows the keyrings that announce another',
        }),
        keyring: newKeyring,
        transitions: z.array(newKeyring).max(MAX_TRANSITIONS).default([]).meta({ description: transitions }),
      })
      .meta({
        id: 'NewPublisher',
        examples: [
          {
            name: 'Acme',
            root: {
              kty: 'OKP',
              crv: 'Ed25519',
              alg: 'Ed25519',
              x: 'iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w',
              kid: 'UDDReOZl1ipXAfp9wYsm13sDBMK5og--QWdBjzuf6o4',
            },
            keyring: 'eyJhbGciOiJFZDI1NTE5In0.e30.AA',
          },
        ],
      }),
    bodyLimit: BODY_LIMIT,
    reply: z.object({ publisher: managedPublisher }),
    problems: ['not_found', 'keyring_outdated', 'keyring_invalid', 'too_many_publishers'],
  }),
  deletePublisher: endpoint({
    operationId: 'deletePublisher',
    method: 'delete',
    path: '/api/v1/admin/publishers/:slug',
    access: 'admin',
    tag: 'admin',
    summary: 'Delete a publisher with its keyring; signatures of templates remain',
    params: bySlug,
    status: 204,
    reply: z.void(),
    problems: ['not_found'],
  }),
};
