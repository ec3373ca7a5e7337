// Each credential in the database has an owner, with which it ends.
import { credentialColumns, missingColumns } from '@svc/testing';
import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

/** The columns that state the owner of each credential. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  'api_keys.key_hash': ['api_keys.org_id', 'api_keys.owner_id'],
  'invitations.code_hash': ['invitations.org_id', 'invitations.created_by_user'],
  'sessions.browser_hash': ['sessions.user_id'],
  // Nobody has signed in yet: the row permits the browser to complete the sign-in that it began.
  'sign_in_transactions.browser_hash': ['sign_in_transactions.expires_at'],
  'sign_in_transactions.state_hash': ['sign_in_transactions.expires_at'],
};

test('each column with a credential has an owner, so that a new one needs an owner', async () => {
  const { client } = world.database;
  expect(await credentialColumns(client)).toEqual(Object.keys(OWNERS).sort());
  expect(await missingColumns(client, Object.values(OWNERS).flat())).toEqual([]);
});
