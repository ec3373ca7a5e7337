// Requests that are answered in a pass receive the same bytes as those that Express handles, and are
// logged and counted in the same way.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { newSecretToken } from '@svc/auth';
import { createLogTo } from '@svc/http';
import { byDepth, eventually, figure, LONG_TEST_MS, seed } from '@svc/testing';
import fc from 'fast-check';
import { anInstance, startWorld } from '../world.ts';

const REQUESTS = byDepth({ short: 200, full: 5000, long: 50_000 });
/** After this number of groups of requests, the catalog or the access changes. */
const GROUPS_PER_CHANGE = 12;

const world = await startWorld();
afterAll(() => world.stop());

const open = await world.aCategory({ slug: 'open' });
const hidden = await world.aCategory({ slug: 'hidden', is_private: true });
for (let count = 0; count < 6; count += 1) {
  const documentation = count === 0 ? 'é'.repeat(2000) : '';
  await world.aTemplate({ slug: `t${count}`, category_id: count % 3 === 2 ? hidden.id : open.id, documentation });
}
const organization = await world.anOrganization();
const other = await world.anOrganization();
const suspended = await world.anOrganization({ status: 'suspended' });
await world.aGrant(other, hidden);

/** A hub that listens, with its log and the number of requests that waited for a pass. */
async function aHub(isFast: boolean) {
  const lines: string[] = [];
  const stream = new PassThrough();
  stream.on('data', (line: Buffer) => lines.push(`${line}`.trimEnd()));
  const instance = anInstance(world.databaseUrl, world.issuer, {
    isFast,
    service: {
      log: createLogTo(stream, { base: { service: 'hub' }, level: 'info' }),
      rateLimit: true,
      requestsPerMinute: 1_000_000,
      rejectionDelay: { burst: 1_000_000, perSecond: 1_000_000, pause: async () => undefined, maxDelayed: 1 },
      trustProxy: ['127.0.0.1'],
    },
  });
  let joined = 0;
  const server = createServer((req: IncomingMessage, res: ServerResponse & { locals?: { revision?: unknown } }) => {
    instance.app(req, res);
    res.once('close', () => {
      joined += Number(res.locals?.revision !== undefined);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  return {
    port,
    lines,
    joined: () => joined,
    usage: instance.usage,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await instance.stop();
    },
  };
}

const fast = await aHub(true);
const express = await aHub(false);
const hubs = [fast, express];
afterAll(() => Promise.all(hubs.map((hub) => hub.stop())));

const CATALOG = '/api/v1/catalog';
const { body: first } = await world.as(organization).get(`${CATALOG}/templates/updates?since=2999-01-01T00:00:00Z`);
const paths = [
  `/templates/updates?since=${first.checked_at}`,
  `/templates/updates?since=2999-01-01T00:00:00Z`,
  '/templates/updates?since=1970-01-01T00:00:00Z',
  `/templates/updates?cursor=${first.cursor}`,
  `/templates/updates?cursor=${first.cursor}&limit=1`,
  '/templates/updates?cursor=start',
  '/templates/updates?cursor=x',
  '/templates',
  '/templates?limit=2&page=2',
  '/templates?sort=-download_count&view=summary',
  '/templates?category=open&limit=5',
  '/templates?limit=x',
  '/templates?search=t1',
  '/templates?access_token=x',
  '/categories',
  '/organization',
];
const slugs = ['/templates/t0', '/templates/t1', '/templates/t2', '/templates/%74%31', '/templates/missing'];

const admin = await world.anAuthorization('admin');
const credentials = {
  none: [],
  key: [`Authorization: Bearer ${organization.key}`],
  'key of a grantee': [`authorization: Bearer ${other.key}`],
  'key with another scheme': [`Authorization: bearer ${organization.key}`],
  'key twice': [`Authorization: Bearer ${organization.key}`, `Authorization: Bearer ${other.key}`],
  'suspended key': [`Authorization: Bearer ${suspended.key}`],
  'unknown key': [`Authorization: Bearer ${newSecretToken('svcc_')}`],
  malformed: ['Authorization: Bearer'],
  'token of an administrator': [`Authorization: ${admin}`],
} as const;
type Credential = keyof typeof credentials;

/** The entity tags that the paths have at first. */
const etags = await Promise.all(
  [...paths.slice(0, 4), '/templates', '/categories', '/templates/t1'].map(
    async (path) => (await world.as(organization).get(`${CATALOG}${path}`)).headers.etag ?? '',
  ),
);

const header = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...etags).map((etag) => `If-None-Match: ${etag}`) },
  fc.constantFrom(
    'Accept-Encoding: gzip, deflate',
    'Accept-Encoding: br;q=0, identity',
    'Accept: */*',
    'Content-Length: 0',
    'Cookie: a=b',
    'If-None-Match: *',
    'If-None-Match: W/"x", "y"',
    'Origin: https://console.example.test',
    'Range: bytes=0-1',
    'Sec-Fetch-Mode: cors',
    'User-Agent: fleet',
    'X-Forwarded-For: 203.0.113.7, 203.0.113.8',
    'X-Request-Id: not accepted',
    'X-Something: else',
  ),
);
const requestOf = (path: fc.Arbitrary<string>, credential: fc.Arbitrary<Credential>) =>
  fc.record({
    start: fc.constantFrom('GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST'),
    path,
    credential,
    headers: fc.uniqueArray(header, { maxLength: 3, selector: (line) => line.split(':', 1)[0] }),
    id: fc.option(fc.stringMatching(/^[a-z0-9]{1,12}$/), { freq: 4 }),
  });
const anyCredential = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Credential>('none', 'key', 'key of a grantee') },
  // Object.keys returns string[].
  fc.constantFrom(...(Object.keys(credentials) as Credential[])),
);
type Sent = ReturnType<typeof requestOf> extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * The requests of some connections at the same time; each sends its requests without waiting for
 * responses. Downloads are only counted alone, because their order is not defined otherwise.
 */
const group: fc.Arbitrary<Sent[][]> = fc.oneof(
  {
    weight: 2,
    arbitrary: requestOf(fc.constantFrom(...slugs, ...paths), anyCredential).map((request) => [[request]]),
  },
  {
    weight: 3,
    arbitrary: fc.array(
      fc.array(
        fc.oneof(
          { weight: 5, arbitrary: requestOf(fc.constantFrom(...paths), anyCredential) },
          requestOf(fc.constantFrom(...slugs), fc.constant<Credential>('none')),
        ),
        { minLength: 1, maxLength: 6 },
      ),
      { minLength: 1, maxLength: 6 },
    ),
  },
);

const wireOf = ({ start, path, credential, headers, id }: Sent, isLast: boolean) =>
  [
    `${start} ${CATALOG}${path} HTTP/1.1`,
    'Host: hub.example.test',
    ...credentials[credential],
    ...headers,
    ...(id === null ? [] : [`X-Request-Id: ${id}`]),
    ...(isLast ? ['Connection: close'] : []),
    '',
    '',
  ].join('\r\n');

/** Without the ids that the hub generates for requests. */
const withoutIds = (text: string) =>
  text.replace(/(X-Request-Id: |"request_id":")[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '$1generated');

async function send(port: number, requests: readonly Sent[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(requests.map((request, at) => wireOf(request, at === requests.length - 1)).join(''));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks)
    .toString('latin1')
    .replace(/^Date: .*\r\n/gm, '');
}

const COUNTED = /^(?:http_requests_total|http_request_duration_seconds_count|http_problems_total)\{.*$/gm;

async function countsOf({ port }: { readonly port: number }) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return (text.match(COUNTED) ?? []).sort();
}

/** The keys that were used, and the numbers of downloads, which the hub stores now. */
async function usesOf({ usage }: (typeof hubs)[number]) {
  const { client } = world.database;
  await client.apiKey.updateMany({ data: { last_used_at: null } });
  await client.$executeRaw`DELETE FROM template_downloads`;
  await usage.flush();
  const keys = await client.apiKey.findMany({ where: { last_used_at: { not: null } }, orderBy: { id: 'asc' } });
  const downloads = await client.$queryRaw`SELECT template_id, count FROM template_downloads ORDER BY template_id`;
  return { keys: keys.map(({ id }) => id), downloads };
}

test(
  'for generated requests on several connections, also without waiting for responses',
  async () => {
    let sent = 0;
    let groups = 0;
    const changes = [
      async () => void (await world.aTemplate({ category_id: open.id })),
      async () => void (await world.anOrganization()),
      async () => void (await world.aGrant(organization, await world.aCategory({ is_private: true }))),
    ];
    for (const connections of fc.sample(group, { numRuns: REQUESTS, seed })) {
      if (sent >= REQUESTS) break;
      groups += 1;
      if (groups % GROUPS_PER_CHANGE === 0) await changes[(groups / GROUPS_PER_CHANGE) % changes.length]?.();
      const answers: string[][] = [];
      for (const hub of hubs) {
        answers.push(await Promise.all(connections.map((requests) => send(hub.port, requests))));
      }
      const [ofFast, ofExpress] = answers.map((received) => received.map(withoutIds));
      expect({ connections, received: ofFast }).toEqual({ connections, received: ofExpress });
      sent += connections.flat().length;
    }
    await eventually('both hubs have logged all requests', async () => hubs.map(({ lines }) => lines.length), {
      until: (counts) => counts.every((count) => count >= sent),
    });
    const logged = hubs.map(({ lines }) =>
      lines.map((line) =>
        withoutIds(line)
          .replace(/"time":"[^"]+"/, '"time":""')
          .replace(/"duration_ms":\d+/, '"duration_ms":0'),
      ),
    );
    expect(logged[0]?.toSorted()).toEqual(logged[1]?.toSorted());
    expect(await countsOf(fast)).toEqual(await countsOf(express));
    const used = await usesOf(fast);
    expect(used).toEqual(await usesOf(express));
    expect(used.keys.length).toBeGreaterThan(1);
    figure(`${sent} requests, of which ${fast.joined()} waited for a pass`);
    expect(fast.joined()).toBeGreaterThan(sent / 5);
    expect(express.joined()).toBe(0);
  },
  LONG_TEST_MS,
);
