// The current services on the databases of earlier releases (infra/releases).
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { differencesOf, readExpectedObjects, readObjects } from '@svc/database/development';
import { onServer } from '@svc/testing';
import { repository } from '../../src/settings.ts';
import { aDeployment, type Deployment } from '../sync/deployment.ts';

const folder = path.join(repository, 'infra', 'releases');
const releases = fs.readdirSync(folder).filter((name) => /^\d+\.\d+\.\d+$/.test(name));
const catalog = path.join(repository, 'infra', 'catalog');
const read = (release: string, name: string) => fs.readFileSync(path.join(folder, release, name), 'utf8');

interface Exchange {
  readonly request: { readonly method: string; readonly path: string };
  readonly response: { readonly status: number; readonly body: Record<string, unknown> };
}

describe.each(releases)('with the databases of release %s,', (release) => {
  const keys: Record<string, string> = JSON.parse(read(release, 'keys.json'));
  const recorded = (JSON.parse(read(release, 'hub-traffic.json')) as Exchange[]).filter(
    ({ response }) => response.status === 200,
  );
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await aDeployment();
    for (const app of ['hub', 'fleet'] as const) await deployment.restore(app, read(release, `${app}.sql`));
    const settings = { ENCRYPTION_KEYS: keys.ENCRYPTION_KEYS ?? '', OUTBOUND_ALLOW: 'http,loopback' };
    await Promise.all([deployment.start('hub'), deployment.start('fleet', settings)]);
  });
  afterAll(() => deployment?.stop());

  /** A request of the organization to the hub. @returns the body of the response */
  const hub = async (at: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${keys.HUB_API_KEY}` };
    const response = await fetch(`${deployment.urls.hub}${at}`, { method, headers });
    expect({ at, status: response.status }).toEqual({ at, status: 200 });
    // biome-ignore lint/suspicious/noExplicitAny: tests check the members that they use.
    return (await response.json()) as any;
  };

  test('the services upgrade them, and the fleet continues its sync', async () => {
    const pages = recorded.filter(({ request }) => request.path.includes('/templates/updates'));
    const { cursor } = pages.at(-1)?.response.body ?? {};
    const continued = await hub(`/api/v1/catalog/templates/updates?cursor=${cursor}`);
    expect(continued).toMatchObject({ templates: [], removed: [], reset: false, has_more: false });

    const fleet = fleetApi(deployment, keys.FLEET_ADMIN_TOKEN ?? '');
    await fleet('PUT', '/settings/hub', { url: deployment.urls.hub, api_key: keys.HUB_API_KEY });
    expect(await fleet('POST', '/catalog/sync')).toMatchObject({
      status: 'fresh',
      organization: { status: 'active' },
    });
    const { deployments } = await fleet('GET', '/deployments');
    expect(deployments.map(({ name, phase }: Record<string, string>) => `${name} ${phase}`).sort()).toEqual([
      'archive stopped',
      'web running',
    ]);
  });

  test.each(['hub', 'fleet'] as const)('the upgraded database of the %s has the objects of a new one', async (app) => {
    const objects = await onServer(deployment.databases[app], (client) =>
      readObjects(async (sql) => (await client.query(sql)).rows),
    );
    expect(differencesOf(readExpectedObjects(path.join(repository, 'prisma', app)), objects)).toEqual([]);
  });

  test('a fleet of the release receives all templates of a hub with applications, and no change of an application', async () => {
    await deployment.command('hub', 'import', catalog);
    const poll = async (cursor: string) => {
      const read = new Set<string>();
      for (let at = cursor; ; ) {
        // The request of the release, with another cursor.
        const page = await hub(`/api/v1/catalog/templates/updates?cursor=${at}&limit=250`);
        expect(page).toMatchObject({ removed: [], reset: cursor === 'start' });
        for (const { slug } of page.templates) read.add(slug);
        at = page.cursor;
        if (!page.has_more) return { cursor: at, read: [...read].sort() };
      }
    };
    const { templates, pagination } = await hub('/api/v1/catalog/templates?limit=100&view=summary');
    const { applications } = await hub('/api/v1/catalog/applications');
    expect(applications.length).toBeGreaterThan(10);
    const first = await poll('start');
    expect(first.read).toHaveLength(pagination.total);
    expect(first.read).toEqual(expect.arrayContaining(templates.map(({ slug }: { slug: string }) => slug)));

    const [changed] = applications;
    const folder = fs.mkdtempSync(path.join(tmpdir(), 'catalog-'));
    fs.cpSync(catalog, folder, { recursive: true });
    const file = path.join(folder, 'applications', `${changed.slug}.yaml`);
    const text = fs.readFileSync(file, 'utf8');
    fs.writeFileSync(file, text.replace(/^description: .*$/m, 'description: Changed'));
    await deployment.command('hub', 'import', folder);
    fs.rmSync(folder, { recursive: true });
    expect(await hub(`/api/v1/catalog/applications/${changed.slug}`)).toMatchObject({ description: 'Changed' });
    expect((await poll(first.cursor)).read).toEqual([]);
  });

  test('the responses of the hub have every member that the release had, with the same type', async () => {
    const now = await Promise.all(
      recorded.map(async ({ request: { method, path: at } }) => membersOf(await hub(at, method), endpointOf(at))),
    );
    const before = recorded.flatMap(({ request, response }) => membersOf(response.body, endpointOf(request.path)));
    expect(before.length).toBeGreaterThan(100);
    expect([...new Set(now.flat())]).toEqual(expect.arrayContaining([...new Set(before)]));
  });
});

const endpointOf = (at: string) => at.replace(/\?.*/, '');

/** The paths of all members with their types, such as `templates[].gpu_count: number`. */
function membersOf(value: unknown, at: string): string[] {
  if (Array.isArray(value)) return [`${at}: array`, ...value.flatMap((item) => membersOf(item, `${at}[]`))];
  if (typeof value !== 'object' || value === null) return [`${at}: ${value === null ? 'null' : typeof value}`];
  const isRecord = at.endsWith('.node_selector'); // its keys are data
  return Object.entries(value).flatMap(([key, member]) => membersOf(member, `${at}.${isRecord ? '*' : key}`));
}

const fleetApi =
  ({ urls }: Deployment, token: string) =>
  async (method: string, at: string, body?: object) => {
    const response = await fetch(`${urls.fleet}/api/v1${at}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    // biome-ignore lint/suspicious/noExplicitAny: tests check the members that they use.
    return (await response.json()) as any;
  };
