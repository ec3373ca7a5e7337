// Sends generated requests to every endpoint.
import { randomUUID } from 'node:crypto';
import { createBrowserSessions, hashCredential, newCredential } from '@svc/auth';
import { closedOpenApiDocument, hubService } from '@svc/contract';
import { hubEndpoints } from '@svc/contract/hub';
import { byDepth, once } from '@svc/testing';
import { testHostileInput } from '@svc/testing/hostile';
import { startWorld } from './world.ts';

const PUBLIC_URL = 'http://127.0.0.1:4100';
const world = await startWorld({ publicUrl: PUBLIC_URL, clientId: 'dashboard' });
const { app, issuer } = world;
const { client } = world.database;
const EACH = byDepth({ short: 2, full: 3, long: 3 });

const browserSessions = createBrowserSessions('hub', PUBLIC_URL);

/** The header lines of a page of the console, in a browser in which the user has signed in. */
async function inConsole(user_id: string): Promise<string[]> {
  const reference = newCredential();
  const expires_at = new Date(Date.now() + 12 * 3_600_000);
  await client.session.create({ data: { user_id, browser_hash: hashCredential(reference), expires_at } });
  const [cookie = ''] = browserSessions.cookieOf(reference).split(';');
  return [`Cookie: ${cookie}`, 'Sec-Fetch-Site: same-origin', `Origin: ${PUBLIC_URL}`];
}

/** A token that outlives a run at depth `long`. */
const tokenOf = async (sub: string) =>
  `Bearer ${await issuer.sign(sub, { exp: Math.floor(Date.now() / 1000) + 12 * 3600 })}`;

/** A user of the hub, with their Authorization header. */
const aUser = async (sub: string, data: { role?: 'admin'; org_id?: string; org_role?: 'org_admin' } = {}) => {
  const user = await client.user.create({ data: { iss: issuer.issuer, sub, ...data, role_set: true } });
  return { id: user.id, authorization: await tokenOf(sub) };
};

// The requests do not use the ids of these rows, so that the callers stay valid.
const organization = await world.anOrganization();
const memberOrganization = await world.anOrganization();
const admin = await aUser('admin', { role: 'admin' });
const member = await aUser('member', { org_id: memberOrganization.id, org_role: 'org_admin' });
const user = await aUser('user');

/** Rows that requests may change and delete. They are created at their first use. */
function expendableRows() {
  const several = <T>(make: () => Promise<T>) => once(() => Promise.all(Array.from({ length: EACH }, make)));
  const organizations = several(() => world.anOrganization());
  const categories = several(() => world.aCategory());
  const privateCategory = once(async () => {
    const category = await world.aCategory({ is_private: true });
    for (const each of [...(await organizations()), organization]) await world.aGrant(each, category);
    return category;
  });
  const templates = once(async () => {
    const { id: category_id } = await privateCategory();
    return Promise.all([
      world.aTemplate({ category_id }),
      ...Array.from({ length: EACH }, () => world.aTemplate({ tags: ['a-tag'] })),
    ]);
  });
  return { organizations, categories, privateCategory, templates, users: several(() => aUser(randomUUID())) };
}

/**
 * Rows that all endpoints without changes share. All of them exist, so that lists are not empty.
 */
const sharedRows = once(async () => {
  const rows = expendableRows();
  await Promise.all([rows.templates(), rows.categories(), rows.users()]);
  return rows;
});

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

// The last endpoints end the sessions of the callers.
const { endBrowserSession, endOwnSessions, ...others } = hubEndpoints;

testHostileInput({
  endpoints: [...Object.values(others), endBrowserSession, endOwnSessions],
  app,
  document: closedOpenApiDocument(hubService),
  callers: {
    anonymous: [],
    organization: [`Authorization: Bearer ${organization.key}`],
    admin: [`Authorization: ${admin.authorization}`],
    member: [`Authorization: ${member.authorization}`],
    user: [`Authorization: ${user.authorization}`],
    'admin in the console': await inConsole(admin.id),
    'member in the console': await inConsole(member.id),
  },
  known: async ({ method, path }) => {
    const rows = method === 'get' ? await sharedRows() : expendableRows();
    const { organizations, categories, privateCategory, templates, users } = rows;
    const keys = async () =>
      path.includes('/account/')
        ? client.apiKey.findMany({ where: { org_id: memberOrganization.id } })
        : (await organizations()).map(({ keyRow }) => keyRow);
    const byNoun = { organizations, categories, templates, users, 'api-keys': keys };
    const nouns = Object.keys(byNoun) as (keyof typeof byNoun)[]; // the keys of the object
    const named = nouns.find((each) => path.includes(`/${each}`));
    return {
      id: async () => idsOf((await Promise.all((named ? [named] : nouns).map((noun) => byNoun[noun]()))).flat()),
      slug: async () =>
        [...(await templates()), ...(await categories()), ...(await organizations())].map(({ slug }) => slug),
      category: async () => (await categories()).map(({ slug }) => slug),
      category_id: async () => idsOf(path.endsWith('/catalog-access') ? [await privateCategory()] : await categories()),
      org_id: async () => idsOf(await organizations()),
      owner_org_id: async () => idsOf(await organizations()),
      tags: ['a-tag'],
    };
  },
});

afterAll(() => world.stop());
