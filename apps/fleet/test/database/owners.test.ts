// Each credential in the database has an owner, with which it ends.
import { credentialColumns, missingColumns } from '@svc/testing';
import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

/** The columns that state the owner of each credential. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  'invitations.code_hash': ['invitations.created_by_user', 'invitations.created_by_token'],
  'refresh_tokens.parent_hash': ['refresh_tokens.session_id'],
  'refresh_tokens.token_hash': ['refresh_tokens.session_id'],
  'sessions.browser_hash': ['sessions.user_id', 'sessions.fingerprint'],
  // Nobody has signed in yet: the row permits the browser to complete the sign-in that it began.
  'sign_in_codes.code_hash': ['sign_in_codes.session_id'],
  'sign_in_transactions.browser_hash': ['sign_in_transactions.expires_at'],
  'sign_in_transactions.state_hash': ['sign_in_transactions.expires_at'],
  'tokens.token_hash': ['tokens.created_by_user', 'tokens.created_by_token'],
  'users.password_hash': ['users.id'],
};

/** Hashes of other values, which permit nothing. */
const NO_CREDENTIALS = [
  'idempotency_keys.key_hash',
  'idempotency_keys.request_hash',
  'workload_revisions.template_hash',
];

test('each column with a credential has an owner, so that a new one needs an owner', async () => {
  const { client } = world.database;
  expect(await credentialColumns(client)).toEqual([...Object.keys(OWNERS), ...NO_CREDENTIALS].sort());
  expect(await missingColumns(client, Object.values(OWNERS).flat())).toEqual([]);
});

test('a new table with a credential would be found', async () => {
  const { client } = world.database;
  await client.$executeRaw`CREATE TABLE passes (id uuid, pass_hash text)`;
  expect(await credentialColumns(client)).toContain('passes.pass_hash');
  await client.$executeRaw`DROP TABLE passes`;
});
