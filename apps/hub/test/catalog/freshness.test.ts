// A change that one replica acknowledged applies to the next request to another replica.
import { setTimeout as delay } from 'node:timers/promises';
import { type Answered, type Api, byDepth, figure } from '@svc/testing';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import type { Reader } from '../../src/database/reader.ts';
import { createRevisionCheck, type Revision, type RevisionCheck } from '../../src/revision.ts';
import { anInstance, startWorld, type TestOrganization } from '../world.ts';

const TEMPLATES = '/api/v1/catalog/templates';
const ROUNDS = byDepth({ short: 2, full: 40, long: 1000 });
const POLLERS = 4;

const world = await startWorld();
const { client } = world.database;
const admin = await world.aUser('admin');
afterAll(() => world.stop());

/** The result of each statement arrives late, so that changes are acknowledged while a check is in progress. */
const late = (reader: Reader): Reader => ({
  async read(statement) {
    const rows = await reader.read<never>(statement);
    await delay(3);
    return rows;
  },
});

const checks = {
  'the check of the hub': (reader: Reader) => createRevisionCheck(late(reader)),
  /** A control: requests join a check that started before they arrived. */
  'a check that joins the one in progress': (reader: Reader): RevisionCheck => {
    const check = createRevisionCheck(late(reader));
    let inProgress: Promise<Revision> | undefined;
    return {
      latest() {
        inProgress ??= check.latest().finally(() => {
          inProgress = undefined;
        });
        return inProgress;
      },
    };
  },
  /** A control: the revision is read again after a notification only, and no notification arrives. */
  'a check that waits for notifications': (reader: Reader): RevisionCheck => {
    const check = createRevisionCheck(reader);
    let known: Promise<Revision> | undefined;
    return {
      latest() {
        known ??= check.latest();
        return known;
      },
    };
  },
};

/** A second replica, with callers that keep its check busy. */
async function aReplica(check: keyof typeof checks) {
  const replica = anInstance(world.databaseUrl, world.issuer, { revisions: checks[check] });
  const stopped = new AbortController();
  const poll = async () => {
    while (!stopped.signal.aborted) await replica.api().get(`${TEMPLATES}/updates?since=2999-01-01T00:00:00Z`);
  };
  const polling = Promise.all(Array.from({ length: POLLERS }, poll));
  return {
    anonymous: replica.api(),
    as: ({ key }: { readonly key: string }) => replica.api(`Bearer ${key}`),
    api: replica.api,
    stop: async () => {
      stopped.abort();
      await polling;
      await replica.stop();
    },
  };
}
type Replica = Awaited<ReturnType<typeof aReplica>>;

/** A change through the first replica, and what the second one answers before and after it. */
interface Scenario {
  readonly ask: () => Promise<unknown>;
  readonly before: unknown;
  readonly change: () => Promise<unknown>;
  readonly after: unknown;
}

const OWN = '/api/v1/catalog/organization';
const statusOf = async (answer: Promise<Answered>) => (await answer).status;
const acknowledged = async (answer: Promise<Answered>) => {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
};
const manage = (method: 'put' | 'delete' | 'post', path: string, body: object) =>
  acknowledged(admin[method](`/api/v1/admin/${path}`, body));

const usingKey = async (
  replica: Replica,
  change: (organization: TestOrganization) => Promise<unknown>,
  after = 401,
) => {
  const organization = await world.anOrganization();
  const ask = () => statusOf(replica.as(organization).get(OWN));
  return { ask, before: 200, change: () => change(organization), after };
};

const usingTemplate = async (
  api: Api,
  method: 'GET' | 'HEAD',
  change: (template: { readonly id: string }) => Promise<unknown>,
  after: number,
) => {
  const template = await world.aTemplate();
  const path = `${TEMPLATES}/${template.slug}`;
  const { etag = '' } = (await api.get(path)).headers;
  const ask = () => statusOf(api.send({ method, path, headers: { 'If-None-Match': etag } }));
  return { ask, before: 304, change: () => change(template), after };
};

const scenarios: Readonly<Record<string, (replica: Replica) => Promise<Scenario>>> = {
  'a revocation': (replica) => usingKey(replica, ({ keyRow: { id } }) => manage('delete', 'api-keys', { id })),
  'a reissue': (replica) =>
    usingKey(replica, async (organization) => {
      const member = await world.aMember(organization, 'org_admin');
      await acknowledged(member.put('/api/v1/account/api-keys', { id: organization.keyRow.id }));
    }),
  'an expiry': (replica) =>
    usingKey(replica, ({ keyRow: { id } }) =>
      client.apiKey.update({ where: { id }, data: { expires_at: new Date(Date.now() - 1000) } }),
    ),
  'a suspension': (replica) =>
    usingKey(replica, ({ id }) => manage('put', 'organizations', { id, status: 'suspended' }), 403),
  'a revocation by SQL': (replica) =>
    usingKey(
      replica,
      ({ keyRow: { id } }) => client.$executeRaw`UPDATE api_keys SET revoked_at = now() WHERE id = ${id}::uuid`,
    ),
  'a new tier': async (replica) => {
    const { id, ...organization } = await world.anOrganization();
    const ask = async () => (await replica.as(organization).get(OWN)).body.organization.tier;
    return { ask, before: 'free', change: () => manage('put', 'organizations', { id, tier: 'pro' }), after: 'pro' };
  },
  'an edit, for If-None-Match': (replica) =>
    usingTemplate(replica.anonymous, 'GET', ({ id }) => manage('put', 'templates', { id, description: 'new' }), 200),
  'an edit, for HEAD': (replica) =>
    usingTemplate(replica.anonymous, 'HEAD', ({ id }) => manage('put', 'templates', { id, description: 'new' }), 200),
  'a withdrawal': (replica) =>
    usingTemplate(replica.anonymous, 'GET', ({ id }) => manage('put', 'templates', { id, is_public: false }), 404),
  'a deletion': (replica) =>
    usingTemplate(replica.anonymous, 'GET', ({ id }) => manage('delete', 'templates', { id }), 404),
  'a withdrawal by SQL': (replica) =>
    usingTemplate(
      replica.anonymous,
      'GET',
      ({ id }) =>
        writeCatalog(
          world.database,
          (t) => t.$executeRaw`UPDATE templates SET is_public = false WHERE id = ${id}::uuid`,
        ),
      404,
    ),
  'a new template in a list': async (replica) => {
    const category = await world.aCategory();
    const path = `${TEMPLATES}?category=${category.slug}`;
    const ask = async () => (await replica.anonymous.get(path)).body.pagination.total;
    const change = () => manage('post', 'templates', { name: `Listed in ${category.slug}`, category_id: category.id });
    return { ask, before: 0, change, after: 1 };
  },
  'a grant': async (replica) => {
    const organization = await world.anOrganization();
    const category = await world.aCategory({ is_private: true });
    const { slug } = await world.aTemplate({ category_id: category.id });
    const ask = () => statusOf(replica.as(organization).get(`${TEMPLATES}/${slug}`));
    const grant = { org_id: organization.id, category_id: category.id };
    return { ask, before: 404, change: () => manage('post', 'catalog-access', grant), after: 200 };
  },
  'the end of a grant': async (replica) => {
    const organization = await world.anOrganization();
    const category = await world.aCategory({ is_private: true });
    const { slug } = await world.aTemplate({ category_id: category.id });
    const { id } = await world.aGrant(organization, category);
    const ask = () => statusOf(replica.as(organization).get(`${TEMPLATES}/${slug}`));
    return { ask, before: 200, change: () => manage('delete', 'catalog-access', { id }), after: 404 };
  },
  'a category that becomes private': async (replica) => {
    const { id } = await world.aCategory();
    const { slug } = await world.aTemplate({ category_id: id });
    const ask = () => statusOf(replica.anonymous.get(`${TEMPLATES}/${slug}`));
    return { ask, before: 200, change: () => manage('put', 'categories', { id, is_private: true }), after: 404 };
  },
  'a demotion': async (replica) => {
    const authorization = await world.anAuthorization('admin');
    const { slug } = await world.aTemplate({ is_public: false });
    const { sub } = JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString());
    const change = () => client.user.updateMany({ where: { sub }, data: { role: 'user' } });
    const ask = () => statusOf(replica.api(authorization).get(`${TEMPLATES}/${slug}`));
    return { ask, before: 200, change, after: 404 };
  },
  'a withdrawal for updates': async (replica) => {
    const { id } = await world.aTemplate();
    const { body } = await replica.anonymous.get(`${TEMPLATES}/updates?cursor=start&limit=1000`);
    const ask = async () =>
      (await replica.anonymous.get(`${TEMPLATES}/updates?since=${body.checked_at}`)).body.removed.length;
    return { ask, before: 0, change: () => manage('put', 'templates', { id, is_public: false }), after: 1 };
  },
  'a change for updates': async (replica) => {
    const { body } = await replica.anonymous.get(`${TEMPLATES}/updates?cursor=start&limit=1000`);
    const ask = async () =>
      (await replica.anonymous.get(`${TEMPLATES}/updates?since=${body.checked_at}`)).body.templates.length;
    return { ask, before: 0, change: () => world.aTemplate(), after: 1 };
  },
};

/** Runs a scenario. @returns whether the answer after the acknowledged change was still the old one */
async function isStale(replica: Replica, prepare: (replica: Replica) => Promise<Scenario>): Promise<boolean> {
  const { ask, before, change, after } = await prepare(replica);
  expect(await ask()).toEqual(before);
  await change();
  const answer = await ask();
  if (answer !== before) expect(answer).toEqual(after);
  return answer === before;
}

describe('another replica', () => {
  let replica: Replica;
  beforeAll(async () => {
    replica = await aReplica('the check of the hub');
  });
  afterAll(() => replica.stop());

  test.each(Object.keys(scenarios))(
    'applies %s to the next request',
    async (name) => {
      const scenario = scenarios[name];
      if (!scenario) throw new Error(name);
      let stale = 0;
      for (let round = 0; round < ROUNDS; round += 1) stale += Number(await isStale(replica, scenario));
      figure(`${name}: ${ROUNDS} rounds, ${stale} stale answers`);
      expect(stale).toBe(0);
    },
    30_000 + ROUNDS * 1000,
  );
});

test.each(['a check that joins the one in progress', 'a check that waits for notifications'] as const)(
  'this test recognizes stale answers: %s causes them',
  async (check) => {
    const replica = await aReplica(check);
    const stale = [];
    for (let round = 0; round < 20 && stale.length === 0; round += 1) {
      for (const name of ['a revocation', 'a withdrawal', 'a grant']) {
        const scenario = scenarios[name];
        if (scenario && (await isStale(replica, scenario).catch(() => false))) stale.push(name);
      }
    }
    await replica.stop();
    expect(stale).not.toEqual([]);
  },
);
