import { setTimeout as delay } from 'node:timers/promises';
import type { Answered, Api } from '@svc/testing';
import { scaled } from '@svc/testing';
import { queryOn } from '@svc/testing/faults';
import type { TestOrganization, World } from '../world.ts';
import type { Replica } from './freshness-replica.ts';

const TEMPLATES = '/api/v1/catalog/templates';
const OWN = '/api/v1/catalog/organization';
/** Longer than a caller needs to use a new key twice. */
const LIFETIME_MS = scaled(800);

/**
 * The status of a response, and the member of its body that the change affects, if the status stays
 * 200.
 */
type Seen = readonly [status: number, member?: unknown];

/** A change through the first replica, and a request to the second one, which it affects. */
export interface Scenario {
  readonly api: Api;
  readonly path: string;
  readonly member?: (body: Answered['body']) => unknown;
  readonly before: Seen;
  readonly change: () => Promise<unknown>;
  readonly after: Seen;
}

type Change<Of> = (of: Of) => Promise<unknown>;

const acknowledged = async (answer: Promise<Answered>) => {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
};

/** All kinds of changes. Each function prepares one change of a kind. */
export async function changesOf(world: World) {
  const { client } = world.database;
  const superadmin = await world.aUser('superadmin');
  const sql = queryOn(world.databaseUrl);
  const manage = (method: 'put' | 'delete' | 'post', path: string, body: object) =>
    acknowledged(superadmin[method](`/api/v1/admin/${path}`, body));
  const userOf = (authorization: string) => {
    const { sub } = JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString());
    return client.user.findFirstOrThrow({ where: { sub } });
  };

  const ofKey =
    (change: Change<TestOrganization>, after: Seen = [401], key: { readonly expires_at?: Date } = {}) =>
    async (replica: Replica): Promise<Scenario> => {
      const organization = await world.anOrganization({}, key);
      return {
        api: replica.as(organization),
        path: OWN,
        before: [200],
        change: () => change(organization),
        after,
      };
    };
  const ofTemplate =
    (change: Change<{ readonly id: string }>, after: Seen = [404]) =>
    async (replica: Replica): Promise<Scenario> => {
      const template = await world.aTemplate();
      const path = `${TEMPLATES}/${template.slug}`;
      return { api: replica.anonymous, path, before: [200], change: () => change(template), after };
    };
  const inUpdates =
    (member: (body: Answered['body']) => unknown, change: Change<{ readonly id: string }>) =>
    async (replica: Replica): Promise<Scenario> => {
      const template = await world.aTemplate();
      const { body } = await replica.anonymous.get(`${TEMPLATES}/updates?since=${new Date().toISOString()}`);
      const path = `${TEMPLATES}/updates?since=${body.checked_at}`;
      const before = [200, 0] as const;
      return { api: replica.anonymous, path, member, before, change: () => change(template), after: [200, 1] };
    };
  const inList = async (replica: Replica, category: { readonly slug: string }) => ({
    api: replica.anonymous,
    path: `${TEMPLATES}?category=${category.slug}`,
    member: ({ pagination }: Answered['body']) => pagination.total,
  });
  const inPrivateCategory = async (replica: Replica) => {
    const organization = await world.anOrganization();
    const category = await world.aCategory({ is_private: true });
    const { slug } = await world.aTemplate({ category_id: category.id });
    return { organization, category, api: replica.as(organization), path: `${TEMPLATES}/${slug}` };
  };
  const withdraw: Change<{ readonly id: string }> = ({ id }) => manage('put', 'templates', { id, is_public: false });

  return {
    'a revocation': ofKey(({ keyRow: { id } }) => manage('delete', 'api-keys', { id })),
    'a revocation by SQL': ofKey(({ keyRow: { id } }) =>
      sql('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]),
    ),
    'a reissue': ofKey(async (organization) => {
      const member = await world.aMember(organization, 'org_admin');
      await acknowledged(member.put('/api/v1/account/api-keys', { id: organization.keyRow.id }));
    }),
    'an expiry': (replica) => {
      const expires = new Date(Date.now() + LIFETIME_MS);
      const untilExpired = () => delay(expires.getTime() - Date.now() + 1);
      return ofKey(untilExpired, [401], { expires_at: expires })(replica);
    },
    'an earlier expiry by SQL': ofKey(({ keyRow: { id } }) =>
      sql(`UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]),
    ),
    'a suspension': ofKey(({ id }) => manage('put', 'organizations', { id, status: 'suspended' }), [403]),
    'a new tier': async (replica) => ({
      ...(await ofKey(({ id }) => manage('put', 'organizations', { id, tier: 'pro' }))(replica)),
      member: ({ organization }) => organization.tier,
      before: [200, 'free'],
      after: [200, 'pro'],
    }),
    'a demotion': async (replica) => {
      const authorization = await world.anAuthorization('admin');
      const { slug } = await world.aTemplate({ is_public: false });
      const { id } = await userOf(authorization);
      return {
        api: replica.api(authorization),
        path: `${TEMPLATES}/${slug}`,
        before: [200],
        change: () => manage('put', 'users', { id, role: 'user' }),
        after: [404],
      };
    },
    'a move of a user to another organization': async (replica) => {
      const { id: org_id } = await world.anOrganization();
      const authorization = await world.anAuthorization('user');
      const { id } = await userOf(authorization);
      const join = (organization: { readonly id: string }) =>
        manage('put', 'users', { id, org_id: organization.id, org_role: 'member' });
      await join(
        await client.organization.create({ data: { name: id, slug: id, subscription: { create: { tier: 'free' } } } }),
      );
      return {
        api: replica.api(authorization),
        path: '/api/v1/account/api-keys',
        member: ({ apiKeys }) => apiKeys.length,
        before: [200, 0],
        change: () => join({ id: org_id }),
        after: [200, 1],
      };
    },
    'an edit': async (replica) => ({
      ...(await ofTemplate(({ id }) => manage('put', 'templates', { id, description: 'new' }))(replica)),
      member: ({ description }) => description,
      before: [200, ''],
      after: [200, 'new'],
    }),
    'a withdrawal': ofTemplate(withdraw),
    'a withdrawal by SQL': ofTemplate(({ id }) =>
      sql(`BEGIN; UPDATE catalog_clock SET at = greatest(date_trunc('milliseconds', clock_timestamp()), at + interval '1 ms');
           UPDATE templates SET is_public = false WHERE id = '${id}'; COMMIT`),
    ),
    'a withdrawal (in a list)': async (replica) => {
      const category = await world.aCategory();
      const template = await world.aTemplate({ category_id: category.id });
      return {
        ...(await inList(replica, category)),
        before: [200, 1],
        change: () => withdraw(template),
        after: [200, 0],
      };
    },
    'a withdrawal (in updates)': inUpdates(({ removed }) => removed.length, withdraw),
    'a deletion': ofTemplate(({ id }) => manage('delete', 'templates', { id })),
    'a new template (in a list)': async (replica) => {
      const category = await world.aCategory();
      const template = { name: `Listed in ${category.slug}`, category_id: category.id };
      const change = () => manage('post', 'templates', template);
      return { ...(await inList(replica, category)), before: [200, 0], change, after: [200, 1] };
    },
    'a new template (in updates)': inUpdates(
      ({ templates }) => templates.length,
      () => world.aTemplate(),
    ),
    'a move of a template to another owner': async (replica) => {
      const owner = await world.anOrganization();
      const other = await world.anOrganization();
      const { id, slug } = await world.aTemplate({ is_public: false, owner_org_id: owner.id });
      const change = () => manage('put', 'templates', { id, owner_org_id: other.id });
      return { api: replica.as(owner), path: `${TEMPLATES}/${slug}`, before: [200], change, after: [404] };
    },
    'a grant': async (replica) => {
      const { organization, category, ...request } = await inPrivateCategory(replica);
      const grant = { org_id: organization.id, category_id: category.id };
      return { ...request, before: [404], change: () => manage('post', 'catalog-access', grant), after: [200] };
    },
    'the end of a grant': async (replica) => {
      const { organization, category, ...request } = await inPrivateCategory(replica);
      const { id } = await world.aGrant(organization, category);
      return { ...request, before: [200], change: () => manage('delete', 'catalog-access', { id }), after: [404] };
    },
    'a category that becomes private': async (replica) => {
      const { id } = await world.aCategory();
      const { slug } = await world.aTemplate({ category_id: id });
      const change = () => manage('put', 'categories', { id, is_private: true });
      return { api: replica.anonymous, path: `${TEMPLATES}/${slug}`, before: [200], change, after: [404] };
    },
    'a new name of a category (in the list of categories)': async (replica) => {
      const { id, name } = await world.aCategory();
      type Listed = { readonly id: string; readonly name: string };
      return {
        api: replica.anonymous,
        path: '/api/v1/catalog/categories',
        member: ({ categories }) => categories.find((one: Listed) => one.id === id).name,
        before: [200, name],
        change: () => manage('put', 'categories', { id, name: `New ${name}` }),
        after: [200, `New ${name}`],
      };
    },
  } satisfies Record<string, (replica: Replica) => Promise<Scenario>>;
}
