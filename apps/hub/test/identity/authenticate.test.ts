import { newSecretToken } from '@svc/auth';
import { closedOpenApiDocument, hubService } from '@svc/contract';
import { createLog } from '@svc/http';
import { apiOf } from '@svc/testing';
import { createHub } from '../../src/app.ts';
import { createCachedCatalog } from '../../src/catalog/memory/cached-catalog.ts';
import { createUsage } from '../../src/catalog/usage.ts';
import { openDatabase } from '../../src/database/client.ts';
import { createKeys } from '../../src/webhooks/keys.ts';
import { withoutChecks } from '../world.ts';

// A hub whose database is unreachable. A response other than 503 did not need the database.
const database = openDatabase('postgresql://hub@127.0.0.1:1/hub', () => undefined);
const log = createLog('hub', 'silent');
const catalog = createCachedCatalog(database.reader);
const usage = createUsage(database.reader, catalog.documents);
const noKeys = () => Promise.reject(new Error('no test verifies a signature'));
const app = createHub({
  database,
  catalog,
  usage,
  diagnosis: withoutChecks,
  keys: createKeys(database, undefined),
  refusalOf: () => undefined,
  provider: {
    signIn: undefined,
    issuer: 'https://issuer.example.test',
    audience: 'https://hub.example.test',
    keys: { keyFor: noKeys, refetch: noKeys },
    superadminEmails: [],
    superadminSubjects: [],
  },
  health: { check: async () => [], stopping: false },
  log,
  rateLimit: false,
  corsOrigins: [],
  trustProxy: [],
});
const as = (token: string) => apiOf(app, closedOpenApiDocument(hubService))(`Bearer ${token}`);
afterAll(() => database.close());

const key = newSecretToken('svcc_');
const otherCharacter = key.at(-1) === 'A' ? 'B' : 'A';

test('answers 503 to a well-formed key while the database is unreachable', async () => {
  const { status, headers } = await as(key).get('/api/v1/catalog/templates');
  expect(status).toBe(503);
  expect(headers['retry-after']).toMatch(/^\d+$/);
});

test.each([
  ['with a wrong checksum', `${key.slice(0, -1)}${otherCharacter}`],
  ['that is too short', key.slice(0, -1)],
  ['that is too long', `${key}0`],
  ['with another alphabet', `${key.slice(0, 20)}-${key.slice(21)}`],
  ['that is an MCP token', newSecretToken('svcm_')],
  ['that is a service token', newSecretToken('svcs_')],
  ['that is neither a key nor a JWT', 'abc.def'],
])('rejects a token %s without a database query', async (_, token) => {
  expect((await as(token).get('/api/v1/catalog/templates')).body.code).toBe('invalid_token');
});
