// The requests that the benches send to a hub.
import { sendOnce } from '../shared/client.mjs';
import { randomNumbers, skewedRanks } from '../shared/random.mjs';
import { wordOf } from './words.mjs';

export const LIST = '/api/v1/catalog/templates';
const MIX_SIZE = 10_000;

/** The headers that each `node:http` server sends. */
const OWN_HEADERS = ['connection', 'date', 'keep-alive'];

/**
 * The body of a response, and its head: names and values in turn.
 * @throws if the status is not 2xx, or if the response does not announce the length of its body
 */
export async function responseOf({ url, keys }, target) {
  const { rawHeaders, body } = await sendOnce(url, { path: target, key: keys[0] });
  const head = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index].toLowerCase();
    if (!OWN_HEADERS.includes(name)) head.push(rawHeaders[index], rawHeaders[index + 1]);
  }
  if (!head.some((name) => name.toLowerCase() === 'content-length')) {
    throw new Error(`GET ${target} does not announce the length of its body`);
  }
  return { head, body };
}

/** The body of a response, as text. @throws if the status is not 2xx */
export const read = async ({ url, keys }, target) => `${(await sendOnce(url, { path: target, key: keys[0] })).body}`;

/** The end of the changes of a hub. */
export const latest = async (hub) => JSON.parse(await read(hub, `${LIST}/updates?since=2999-01-01T00:00:00Z`));

/**
 * The mix: 60 % sync, 25 % slugs (Zipf with exponent 1), 10 % pages and 5 % filters, with random
 * keys.
 */
function mixOf({ keys, templates }) {
  const random = randomNumbers(1);
  const rankOf = skewedRanks(templates);
  const upTo = (count) => Math.floor(random() * count);
  const filters = [() => `search=${wordOf(random)}`, () => `tags=t${upTo(50)}`, () => 'featured=true'];
  return Array.from({ length: MIX_SIZE }, () => {
    const poller = upTo(keys.length);
    const key = keys[poller];
    const share = random();
    if (share < 0.6) return { kind: 'since', key, poller };
    // Slugs that every key sees: not hidden, and in an open category.
    if (share < 0.85)
      return { kind: 'slug', key, path: `${LIST}/template-${40 * Math.floor((rankOf(random) - 1) / 40) + 1}` };
    if (share < 0.95) return { kind: 'list', key, path: `${LIST}?limit=50&page=${1 + upTo(10)}` };
    return { kind: 'filter', key, path: `${LIST}?limit=20&${filters[upTo(filters.length)]()}` };
  });
}

/**
 * @returns the path of each kind of request, and for each kind of load a function that returns its
 * requests
 */
export async function requestsOf(hub) {
  const { checked_at, cursor } = await latest(hub);
  const paths = {
    list: `${LIST}?limit=50`,
    slug: `${LIST}/template-1`,
    since: `${LIST}/updates?since=${checked_at}`,
    cursor: `${LIST}/updates?cursor=${cursor}`,
  };
  const mix = mixOf(hub);
  const idleMix = mix.map(({ poller: _, ...request }) => ({ path: paths.since, ...request }));
  /** The mix whose polls continue from the current state. */
  const changingMix = async () => {
    const since = (await latest(hub)).checked_at;
    return mix.map((request) =>
      request.kind === 'since' ? { ...request, path: `${LIST}/updates?since=${since}` } : request,
    );
  };
  const single = Object.entries(paths).map(([kind, path]) => [kind, async () => [{ kind, key: hub.keys[0], path }]]);
  return { paths, loads: { ...Object.fromEntries(single), mix: async () => idleMix, 'mix with writes': changingMix } };
}
