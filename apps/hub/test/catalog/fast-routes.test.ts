// Catalog reads are answered with the same bytes with and without Express.
import { byDepth, seed } from '@svc/testing';
import { repeatHint } from '@svc/testing/properties';
import fc from 'fast-check';
import { callers } from '../sync/model/catalog.ts';
import { initialStates, write } from '../sync/model/generated.ts';
import { beginHistory, commit } from '../sync/model/history.ts';
import { aHub } from '../sync/model/hub.ts';

const CATALOGS = byDepth({ short: 2, full: 6, long: 200 });
const REQUESTS = 60;

const hub = await aHub({ isFast: true });
const other = hub.aReplica({ isFast: false });
afterAll(async () => {
  await other.stop();
  await hub.stop();
});

const number = fc.constantFrom('0', '1', '2', '100', '101', '-1', 'x', '', '999999999999');
const word = fc.constantFrom('template', '0', 'e', 'TEMPLATE-1', 'a+b', '%C3%A9', '%00', '%ZZ', '');
const slug = fc.constantFrom('category-0', 'category-1', 'template-0', 'template-3', 'x', 'X', '%61');
const time = fc.constantFrom('1970-01-01T00:00:00Z', '2999-01-01T00:00:00Z', '2026-01-01', 'x', '');
const parameter = fc.oneof(
  number.map((value) => `limit=${value}`),
  number.map((value) => `page=${value}`),
  word.map((value) => `search=${value}`),
  word.map((value) => `tags=${value}`),
  slug.map((value) => `category=${value}`),
  fc.constantFrom('true', 'false', '1').map((value) => `featured=${value}`),
  time.map((value) => `since=${value}`),
  fc.constantFrom('start', 'x', 'eyJ2IjoxfQ').map((value) => `cursor=${value}`),
  fc.constantFrom('unknown=1', 'access_token=x', 'access%5Ftoken=x', '&', '='),
);
const path = fc.oneof(
  fc.constantFrom('/templates', '/templates/updates', '/categories', '/organization'),
  slug.map((value) => `/templates/${value}`),
);
const request = fc.record({
  caller: fc.constantFrom(...callers),
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS'),
  path: fc.tuple(path, fc.array(parameter, { maxLength: 3 })).map(([at, query]) => `${at}?${query.join('&')}`),
  isConditional: fc.boolean(),
});
type Sent = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

/** The number of downloads can differ between replicas for a second. */
const withoutCounts = (text: string | undefined) => text?.replace(/"download_count":\d+/g, '');

async function ask(api: typeof hub.api, { caller, method, path: at, isConditional }: Sent) {
  const target = { method, path: `/api/v1/catalog${at}` };
  const headers = { 'X-Request-Id': 'the-same' };
  const first = await api(caller).send({ ...target, headers });
  const { etag } = first.headers;
  const answer =
    isConditional && etag !== undefined
      ? await api(caller).send({ ...target, headers: { ...headers, 'If-None-Match': etag } })
      : first;
  const { date: _, 'content-length': length, ...rest } = answer.headers;
  return { status: answer.status, text: withoutCounts(answer.text), headers: rest, hasLength: length !== undefined };
}

test(
  'for generated requests of all viewers',
  async () => {
    const statuses = new Set<number>();
    const commits = fc.array(write, { maxLength: 5 });
    const requests = fc.array(request, { minLength: REQUESTS, maxLength: REQUESTS });
    const property = fc.asyncProperty(initialStates, commits, requests, async (initialState, writes, sent) => {
      const history = await beginHistory(hub, initialState);
      if (writes.length > 0) await commit(history, hub, writes);
      for (const one of sent) {
        const answer = await ask(hub.api, one);
        statuses.add(answer.status);
        expect({ sent: one, answer }).toEqual({ sent: one, answer: await ask(other.api, one) });
      }
    });
    await fc.assert(property, { seed, numRuns: CATALOGS }).catch((error: unknown) => {
      throw new Error(repeatHint, { cause: error });
    });
    expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 304, 400, 404]));
  },
  60_000 + CATALOGS * 20_000,
);
