// The filter of users by role in SQL agrees with the roles that the API shows, for generated claims
// and mappings.
import { byDepth, seed } from '@svc/testing';
import { readPage } from '../../src/database/lists.ts';
import { listedUser, userList } from '../../src/identity/user-list.ts';
import { type Mapping, presentUser } from '../../src/identity/users.ts';
import { randomFrom } from '../random.ts';
import { startWorld } from '../world.ts';

const MAPPINGS = byDepth({ short: 60, full: 600, long: 6000 });
const ROLES = ['admin', 'operator', 'viewer'] as const;

const world = await startWorld();
const { client } = world.database;
const { oneOf, isOneIn, below } = randomFrom(seed);
afterAll(() => world.stop());

const text = () =>
  oneOf(['admin', 'operator', 'viewer', 'crew', 'chief', '', 'none', 'constructor', 'crew viewer', 'admin,\toperator']);
const leaf = () => oneOf([text(), text(), null, 7, true, {}, [], [text(), text()], [text(), 3, null, [text()]]]);
const inner = () => oneOf([leaf(), { role: leaf(), '0': leaf(), '0.role': leaf() }, [{ role: leaf() }, leaf()]]);
const CLAIMS = ['role', 'realm', 'realm.role', 'realm.0', '0', 'realm.0.role', 'realm.-1', 'realm.01', 'a b', ''];
const claims = () => Object.fromEntries(CLAIMS.filter(() => isOneIn(2)).map((name) => [name, inner()]));

await client.user.createMany({
  data: Array.from({ length: 90 }, (_, index) => {
    const provider = { iss: 'https://provider.example.test', sub: `subject-${index}` };
    return { source: 'oidc', ...provider, claims: claims() };
  }),
});
await world.aUser('operator');

const aMapping = (): Mapping => ({
  role_claim: oneOf(CLAIMS),
  role_map: isOneIn(3) ? null : Object.fromEntries(Array.from({ length: below(4) }, () => [text(), oneOf(ROLES)])),
  default_role: oneOf(['viewer', 'none']),
});

test('the filter by role returns exactly the users who are shown with the role', async () => {
  const query = { page: 1, limit: 100, sort: '-created_at' } as const;
  const found = new Set<string>();
  for (let round = 0; round < MAPPINGS; round++) {
    const mapping = aMapping();
    const read = async (filters: { role?: (typeof ROLES)[number][] }) => {
      const { rows } = await readPage(client, userList(mapping), { ...query, ...filters });
      return rows.map((row) => presentUser(listedUser.parse(row), mapping));
    };
    const all = await read({});
    expect(all).toHaveLength(91);
    for (const role of ROLES) {
      const shown = all.filter((user) => user.role === role).map(({ id }) => id);
      if (shown.length > 0 && shown.length < all.length) found.add(role);
      expect(mapping).toEqual(mapping);
      expect(role).toEqual(role);
      expect((await read({ role: [role] })).map(({ id }) => id)).toEqual(shown);
    }
  }
  expect([...found].sort()).toEqual(ROLES);
});
