// Conformance of clients that keep a copy of the catalog: the fleet, and the client of docs/sync.md in Python. Both pass the same
// scenario with a real hub. After each step, the copy of the client equals what the hub shows to its API key.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, type LocalIssuer, type StartedProcess, startLocalIssuer } from '@svc/testing';
import { programAt } from '@svc/testing/engine';
import pg from 'pg';
import { aDeployment, type Deployment } from './deployment.ts';
import { type Copied, fleetClient, pythonClient, type SyncClient } from './sync-clients.ts';
import { aSyncProxy, cutOff, lost, rewritten, type SyncProxy, unknownCursor } from './sync-proxy.ts';

const PAGE_SIZE = 4;
/** The fleet adds `stale` and `trust`; the scenario adds `unknown_member`. */
const NOT_COMPARED = ['download_count', 'stale', 'trust', 'unknown_member'];
const AUDIENCE = 'https://hub.example.test';

let issuer: LocalIssuer;
let deployment: Deployment;
let hub: StartedProcess;
let environment: Record<string, string>;

async function restartHub(): Promise<void> {
  hub.child.kill('SIGKILL');
  await hub.ended;
  hub = await deployment.start('hub', environment);
}

beforeAll(async () => {
  issuer = await startLocalIssuer(AUDIENCE);
  deployment = await aDeployment();
  environment = { OIDC_ISSUER: issuer.issuer, OIDC_AUDIENCE: AUDIENCE, SUPERADMIN_SUBJECTS: 'root' };
  hub = await deployment.start('hub', environment);
});
afterAll(async () => {
  await deployment?.stop();
  await issuer?.close();
});

interface Answered {
  readonly templates: readonly Copied[];
  readonly template: Copied;
  readonly category: { readonly id: string };
}

async function hubAs(token: string, method: string, at: string, body?: object): Promise<Answered> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${deployment.urls.hub}/api/v1${at}`, {
    ...{ method, headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${at} answered ${response.status}: ${text}`);
  return JSON.parse(text === '' ? '{}' : text);
}
const admin = async (method: string, at: string, body: object) =>
  hubAs(await issuer.sign('root'), method, `/admin/${at}`, body);

/** An organization with an API key. */
async function anOrganization(slug: string) {
  const created = JSON.parse(await deployment.command('hub', 'create-organization', '--name', slug, '--slug', slug));
  const output = await deployment.command('hub', 'create-api-key', '--organization', slug, '--name', 'sync');
  return { id: String(created.id), key: String(JSON.parse(output).key) };
}

const python = programAt('python3');
const clients = [
  { name: 'fleet', missing: undefined, start: fleetClient },
  {
    name: 'python',
    missing: python === undefined && process.env.TEST_ENGINES !== 'required' ? 'python3 not installed' : undefined,
    start: async (connection: Parameters<typeof fleetClient>[0]) => pythonClient(python ?? 'python3', connection),
  },
] as const;

for (const { name, missing, start } of clients) {
  const title = `the client ${name} keeps a correct copy`;
  if (missing === undefined) describe(title, () => passesTheScenario(name, start));
  else describe.skip(`${title} (skipped: ${missing})`, () => passesTheScenario(name, start));
}

/** Defines the steps. Each continues where the previous one ended. */
function passesTheScenario(name: string, start: (typeof clients)[number]['start']): void {
  let organization: Awaited<ReturnType<typeof anOrganization>>;
  let proxy: SyncProxy;
  let client: SyncClient & { readonly remove?: () => void };
  const templates: string[] = [];
  const categories = { open: '', closed: '' };

  const addTemplate = async (label: string, more: object = {}): Promise<string> => {
    const body = { name: `${name} ${label}`, category_id: categories.open, ...more };
    const { id } = (await admin('POST', 'templates', body)).template;
    templates.push(id);
    return id;
  };
  const change = (id: string | undefined, body: object) => admin('PUT', 'templates', { id, ...body });
  const remove = (id: string | undefined) => admin('DELETE', 'templates', { id });
  const grant = (method: 'POST' | 'DELETE') =>
    admin(method, 'catalog-access', { org_id: organization.id, category_id: categories.closed });

  /** What the hub shows to the API key, by id. */
  const shown = async () => (await hubAs(organization.key, 'GET', '/catalog/templates?limit=100')).templates;
  /** A template without the members that a client may keep, and without the count of downloads, which a sync does not keep up to date. */
  const comparable = (each: Copied): Copied =>
    JSON.parse(JSON.stringify(each, (key, value) => (NOT_COMPARED.includes(key) ? undefined : value)));
  const expectCurrent = async () => {
    const byId = (list: readonly Copied[]) => new Map(list.map((each) => [each.id, comparable(each)]));
    const [expected, copy] = [byId(await shown()), byId(await client.copy())];
    expect(copy).toEqual(expected);
    return copy;
  };
  /** Syncs until the client reaches the end, and compares its copy. */
  const synced = async () => {
    for (let attempts = 1; !(await client.sync()); attempts++) expect(attempts).toBeLessThan(5);
    expect(proxy.faultsLeft()).toBe(0);
    return expectCurrent();
  };

  beforeAll(async () => {
    organization = await anOrganization(name);
    proxy = await aSyncProxy(deployment.urls.hub, PAGE_SIZE);
    client = await start({ deployment, hub: proxy.url, key: organization.key });
    categories.open = (await admin('POST', 'categories', { name: `${name} open` })).category.id;
    categories.closed = (await admin('POST', 'categories', { name: `${name} closed`, is_private: true })).category.id;
    for (let n = 0; n < 10; n++) await addTemplate(`open ${n}`);
    for (let n = 0; n < 3; n++) await addTemplate(`closed ${n}`, { category_id: categories.closed });
  });
  afterAll(async () => {
    client?.remove?.();
    await proxy?.stop();
  });

  const step = (title: string, run: () => Promise<unknown>) => test(title, run as () => Promise<undefined>);

  step('the first sync over several pages', async () => {
    expect((await synced()).size).toBeGreaterThanOrEqual(10);
    expect(proxy.takeStatuses().length).toBeGreaterThan(2);
  });

  step('changes, new templates, and slugs that are exchanged', async () => {
    const slugs = [`${name}-open-0`, `${name}-open-1`];
    await addTemplate('new');
    await change(templates[0], { slug: `${name}-other`, description: 'changed' });
    await change(templates[1], { slug: slugs[0] });
    await change(templates[0], { slug: slugs[1] });
    expect((await synced()).get(templates[0] ?? '')).toMatchObject({ slug: slugs[1], description: 'changed' });
  });

  step('removals: a template is deleted, and another one is hidden', async () => {
    await remove(templates[2]);
    await change(templates[3], { is_public: false });
    const copy = await synced();
    expect(templates.slice(2, 4).filter((id) => copy.has(id))).toEqual([]);
  });

  step('visibility: a grant is created, revoked and created again, and a category becomes private', async () => {
    const granted = async () => (await synced()).has(templates[10] ?? '');
    await grant('POST');
    expect(await granted()).toBe(true);
    await grant('DELETE');
    expect(await granted()).toBe(false);
    await grant('POST');
    expect(await granted()).toBe(true);
    await admin('PUT', 'categories', { id: categories.open, is_private: true });
    expect((await synced()).has(templates[5] ?? '')).toBe(false);
    await admin('PUT', 'categories', { id: categories.open, is_private: false });
    expect((await synced()).has(templates[5] ?? '')).toBe(true);
  });

  step('the hub is killed and starts again between two pages, and a template of the first page changes', async () => {
    for (const id of templates.slice(4, 14)) await change(id, { description: 'before the restart' });
    proxy.setFaults(
      rewritten((body) => body),
      lost(async () => {
        await restartHub();
        await change(templates[4], { description: 'after the restart' });
      }),
    );
    expect((await synced()).get(templates[4] ?? '')).toMatchObject({ description: 'after the restart' });
  });

  test.each([429, 503] as const)('the hub answers %d with Retry-After', async (status) => {
    await change(templates[5], { description: `after ${status}` });
    const before = await client.copy();
    const early = proxy.isBusy(status, 3);
    if (name === 'fleet') {
      // A request for a sync is not delayed. The schedule of the fleet is (apps/fleet/test/catalog/sync-backoff.test.ts).
      expect(await client.sync()).toBe(false);
      expect(await client.copy()).toEqual(before);
      await eventually('the hub is no longer busy', () => client.sync());
      return void (await expectCurrent());
    }
    await synced();
    expect(early.count).toBe(0);
  });

  step('the hub sends unknown members', async () => {
    await change(templates[6], { description: 'with unknown members', ports: [{ containerPort: 80 }] });
    await remove(templates[7]);
    const unknown = { unknown_member: { nested: [1] } };
    proxy.setFaults(
      rewritten((body) => {
        const page = JSON.parse(body);
        const extend = (each: object) => ({ ...each, ...unknown });
        for (const each of page.templates) each.ports = each.ports.map(extend);
        return JSON.stringify({
          ...{ ...page, ...unknown },
          templates: page.templates.map(extend),
          removed: page.removed.map(extend),
        });
      }),
    );
    await synced();
  });

  step('the clock of the hub was an hour ahead, and is set back', async () => {
    await ahead(`UPDATE templates SET description = 'from the future' WHERE id = $1`, [templates[8]]);
    expect((await synced()).get(templates[8] ?? '')).toMatchObject({ description: 'from the future' });
    await change(templates[9], { description: 'after the clock was set back' });
    await remove(templates[8]);
    const copy = await synced();
    expect(copy.get(templates[9] ?? '')).toMatchObject({ description: 'after the clock was set back' });
    expect(copy.has(templates[8] ?? '')).toBe(false);
  });

  step('responses are cut off, and one is not from a hub', async () => {
    for (const id of templates.slice(9, 14)) await change(id, { description: 'cut off' });
    proxy.setFaults(
      cutOff('content-length'),
      cutOff('chunked'),
      rewritten(() => '<html>Sign in</html>', { headers: { 'content-type': 'text/html' } }),
    );
    await synced();
  });

  step('the hub does not know the cursor, and meanwhile a template was deleted', async () => {
    await remove(templates[9]);
    proxy.setFaults(unknownCursor);
    expect((await synced()).has(templates[9] ?? '')).toBe(false);
  });

  step('while the organization is suspended, the copy does not change, and afterwards nothing is missing', async () => {
    const before = await client.copy();
    await admin('PUT', 'organizations', { id: organization.id, status: 'suspended' });
    await change(templates[4], { description: 'while suspended' });
    await remove(templates[5]);
    expect(await client.sync()).toBe(false);
    expect(await client.copy()).toEqual(before);
    await admin('PUT', 'organizations', { id: organization.id, status: 'active' });
    const copy = await synced();
    expect(copy.get(templates[4] ?? '')).toMatchObject({ description: 'while suspended' });
    expect(copy.has(templates[5] ?? '')).toBe(false);
  });

  if (name === 'python') {
    step('a sync without changes is answered 304', async () => {
      await synced(); // the first response without changes
      proxy.takeStatuses();
      await synced();
      expect(proxy.takeStatuses()).toEqual([304]);
    });
  }
}

/** Writes to the catalog with a clock that is an hour ahead. */
async function ahead(sql: string, values: readonly unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: deployment.databases.hub });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `UPDATE catalog_clock SET at = date_trunc('milliseconds', greatest(clock_timestamp(), at) + interval '1 hour')`,
    );
    await client.query(sql, [...values]);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}
