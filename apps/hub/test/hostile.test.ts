// Generated requests against every endpoint. HOSTILE_REQUESTS=2000 is the long form (200 for each endpoint otherwise),
// HOSTILE_SEED=<number> repeats a run that failed.
import { randomUUID } from 'node:crypto';
import { hubService, openApiDocument } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { testHostileInput } from '@svc/testing/hostile';
import { startWorld } from './world.ts';

const world = await startWorld();
const { app, issuer } = world;
const { client } = world.database;
const EACH = 3;

/** A token that outlives the long form. */
const tokenOf = async (sub: string) =>
  `Bearer ${await issuer.sign(sub, { exp: Math.floor(Date.now() / 1000) + 12 * 3600 })}`;

/** A user of the hub, and the Authorization header that speaks for them. */
const aUser = async (sub: string, data: { role?: 'admin'; org_id?: string; org_role?: 'org_admin' } = {}) => {
  const user = await client.user.create({ data: { iss: issuer.issuer, sub, ...data, role_set: true } });
  return { id: user.id, authorization: await tokenOf(sub) };
};

// The callers' own rows are known to no request, so that they stay what they are.
const organization = await world.anOrganization();
const ofMember = await world.anOrganization();
const admin = await aUser('admin', { role: 'admin' });
const member = await aUser('member', { org_id: ofMember.id, org_role: 'org_admin' });
const user = await aUser('user');

/** Rows that requests may do anything to: new ones at each endpoint's turn, since the last one may have spoilt them. */
async function rowsToHarm() {
  const some = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: EACH }, make));
  const organizations = await some(() => world.anOrganization());
  const categories = await some(() => world.aCategory());
  const privateCategory = await world.aCategory({ is_private: true });
  const templates = await some(() => world.aTemplate({ tags: ['a-tag'] }));
  templates.push(await world.aTemplate({ category_id: privateCategory.id }));
  const users = await some(() => aUser(randomUUID()));
  for (const each of organizations) await world.aGrant(each, privateCategory);
  await world.aGrant(organization, privateCategory);
  return { organizations, categories, privateCategory, templates, users };
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

testHostileInput({
  endpoints: Object.values(hubEndpoints),
  app,
  document: openApiDocument(hubService),
  callers: {
    nobody: undefined,
    organization: `Bearer ${organization.key}`,
    admin: admin.authorization,
    member: member.authorization,
    user: user.authorization,
  },
  known: async ({ path }) => {
    const { organizations, categories, privateCategory, templates, users } = await rowsToHarm();
    const keys = path.includes('/account/')
      ? await client.apiKey.findMany({ where: { org_id: ofMember.id } })
      : organizations.map(({ keyRow }) => keyRow);
    const byNoun = { organizations, categories, templates, users, 'api-keys': keys };
    const noun = Object.keys(byNoun).find((each) => path.includes(`/${each}`)) as keyof typeof byNoun | undefined; // a key of it
    return {
      id: idsOf(noun ? byNoun[noun] : Object.values(byNoun).flat()),
      slug: [...templates, ...categories, ...organizations].map(({ slug }) => slug),
      category: categories.map(({ slug }) => slug),
      category_id: idsOf(path.endsWith('/catalog-access') ? [privateCategory] : categories),
      org_id: idsOf(organizations),
      owner_org_id: idsOf(organizations),
      tags: ['a-tag'],
    };
  },
});

afterAll(() => world.stop());
