// Two processes count downloads: each download once, and a process that is killed loses only the
// counts of the last second.
import { setTimeout as delay } from 'node:timers/promises';
import { eventually, figure, fromFull } from '@svc/testing';
import { ask, type LoadResult, patientUrl, queryOn, startLoad } from '@svc/testing/faults';
import { createApiKey, createOrganization } from '../../src/commands/organizations.ts';
import { openDatabase } from '../../src/database/client.ts';
import { adminOf, createCategory, prepareHubFaults } from './world.ts';

/** Downloads with a key, of all clients together. */
const DOWNLOADS = fromFull({ full: 10_000, long: 100_000 });
const CLIENTS = 40;
const ORGANIZATIONS = 4;
const TEMPLATES = 5;

const KILLS = fromFull({ full: 3, long: 10 });
const CLIENTS_PER_HUB = 4;
const PAUSE_MS = 5;
/** The maximum time whose counts a killed process loses. It stores them every 400 ms. */
const LOST_MS = 1000;

const { aDatabase, anIssuer, aHub } = prepareHubFaults();

/** Two hubs on a database, with keys and a function that creates a template. */
async function startHubs() {
  const databaseUrl = patientUrl(await aDatabase());
  const issuer = await anIssuer();
  const settings = { databaseUrl, issuer: issuer.issuer };
  const hubs = [await aHub(settings), await aHub(settings)] as const;
  const admin = await adminOf(issuer);
  const categoryId = await createCategory(hubs[0], admin);
  const database = openDatabase(databaseUrl, () => undefined);
  const keys: string[] = [];
  for (let number = 1; number <= ORGANIZATIONS; number += 1) {
    const organization = `organization-${number}`;
    await createOrganization({ name: organization, slug: organization })(database);
    keys.push(`Bearer ${(await createApiKey({ organization, name: 'key' })(database)).key}`);
  }
  await database.close();
  const createTemplate = async (slug: string) => {
    const body = { name: slug, slug, category_id: categoryId };
    const sent = { method: 'POST', authorization: admin, body };
    expect((await ask(`${hubs[0].url}/api/v1/admin/templates`, sent)).status).toBe(201);
    return `/api/v1/catalog/templates/${slug}`;
  };
  const query = queryOn(databaseUrl);
  /** The stored downloads of the template at a path. */
  const stored = async (path: string): Promise<number> => {
    const [row] = await query(
      'SELECT d.count::int FROM template_downloads d JOIN templates t ON t.id = d.template_id WHERE t.slug = $1',
      [path.split('/').at(-1)],
    );
    return Number(row?.count ?? 0);
  };
  return { hubs, keys, settings, createTemplate, stored };
}

const isDownload = ({ status }: LoadResult) => status === 200 || status === 304;

test(
  'two processes count each download of parallel clients once, also those that are answered with 304',
  async () => {
    const { hubs, keys, createTemplate, stored } = await startHubs();
    const templates = await Promise.all(
      Array.from({ length: TEMPLATES }, async (_, number) => {
        const path = await createTemplate(`template-${number}`);
        const etag = (await fetch(`${hubs[0].url}${path}`)).headers.get('etag') ?? '';
        return { path, etag, downloads: 0 };
      }),
    );
    const statuses = { 200: 0, 304: 0 };
    let left = DOWNLOADS;
    const client = async (_: unknown, number: number) => {
      const authorization = keys[number % keys.length] ?? '';
      for (let sent = number; left > 0; sent += 1) {
        left -= 1;
        const hub = hubs[sent % hubs.length];
        const template = templates[Math.floor(sent / hubs.length) % templates.length];
        if (!hub || !template) throw new Error('no hub or no template');
        const url = `${hub.url}${template.path}`;
        const headers: Record<string, string> = sent % 3 === 0 ? { 'If-None-Match': template.etag } : {};
        const { status } = await ask(url, { authorization, headers });
        if (status !== 200 && status !== 304) throw new Error(`${url} answered ${status}`);
        statuses[status] += 1;
        template.downloads += 1;
        if (sent % 9 > 0) continue;
        // These requests are not downloads.
        expect(await ask(url, { authorization, method: 'HEAD' })).toMatchObject({ status: 200 });
        expect(await ask(url)).toMatchObject({ status: 200 });
      }
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: CLIENTS }, client));
    const seconds = (performance.now() - started) / 1000;
    for (const { child } of hubs) child.kill('SIGTERM');
    expect(await Promise.all(hubs.map(({ ended }) => ended))).toEqual([0, 0]);
    const counts = await Promise.all(templates.map(({ path }) => stored(path)));
    expect(counts).toEqual(templates.map(({ downloads }) => downloads));
    expect(counts.reduce((sum, count) => sum + count)).toBe(DOWNLOADS);
    expect(Math.min(...Object.values(statuses))).toBeGreaterThan(0);
    figure(
      `${DOWNLOADS} downloads (200: ${statuses[200]}, 304: ${statuses[304]}) in ${seconds.toFixed(1)} s: all counted once`,
    );
  },
  60_000 + DOWNLOADS * 5,
);

test(
  'a process that is killed loses at most the counts of its last second, and another one loses none',
  async () => {
    const { hubs, keys, settings, createTemplate, stored } = await startHubs();
    const [staying] = hubs;
    let [, killed] = hubs;
    const longest: number[] = [];
    for (let round = 1; round <= KILLS; round += 1) {
      const kept = await createTemplate(`kept-${round}`);
      const atRisk = await createTemplate(`at-risk-${round}`);
      let acknowledgedByStaying = 0;
      /**
       * The times of the acknowledged downloads from the killed process, and the number of requests
       * without a response.
       */
      const acknowledged: number[] = [];
      let unanswered = 0;
      const fromStaying = async () => {
        const seen = await ask(`${staying.url}${kept}`, { authorization: keys[0] ?? '' });
        acknowledgedByStaying += Number(isDownload(seen));
        return seen;
      };
      const { url } = killed;
      const fromKilled = async () => {
        const seen = await ask(`${url}${atRisk}`, { authorization: keys[1] ?? '' });
        if (isDownload(seen)) acknowledged.push(performance.now());
        else unanswered += 1;
        return seen;
      };
      const clients = Array.from({ length: CLIENTS_PER_HUB }, () => [fromStaying, fromKilled]).flat();
      const load = startLoad(clients, { pauseMs: PAUSE_MS });
      await eventually('the process that is killed responds', async () => acknowledged.length > 0);
      await delay(2 * LOST_MS + Math.random() * 500); // at any time between two flushes
      const killedAt = performance.now();
      killed.child.kill('SIGKILL');
      await killed.ended;
      await load.stop();
      await eventually(
        'the other process stores its counts',
        async () => (await stored(kept)) === acknowledgedByStaying,
      );
      const count = await stored(atRisk);
      const isSafe = (at: number) => at < killedAt - LOST_MS;
      expect(count).toBeGreaterThanOrEqual(acknowledged.filter(isSafe).length);
      expect(acknowledged.filter(isSafe)).not.toEqual([]);
      expect(count).toBeLessThanOrEqual(acknowledged.length + unanswered);
      const firstLost = acknowledged[count]; // counts are stored in the order of the downloads
      longest.push(firstLost === undefined ? 0 : Math.round(killedAt - firstLost));
      figure(`kill -9: ${acknowledged.length} downloads acknowledged, ${count} stored`);
      killed = await aHub({ ...settings, port: killed.port });
    }
    figure(`time before the kill whose counts were lost (ms): ${longest.join(' ')}`);
  },
  60_000 + KILLS * 15_000,
);
