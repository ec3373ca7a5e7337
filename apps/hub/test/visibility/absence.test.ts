// What a caller can't see answers like what does not exist: status, bytes, headers, and what it costs.
import type { Answered } from '@svc/testing';
import { anInstance, startWorld } from '../world.ts';
import { aCast, aScene } from './scene.ts';
import { countingWay } from './statements.ts';
import { kinds, seers, templates } from './table.ts';

const world = await startWorld();
const way = await countingWay(world.databaseUrl);
const counted = anInstance(way.url, world.issuer);
afterAll(async () => {
  await counted.stop();
  await way.close();
  await world.stop();
});
const cast = await aCast(world);
const scene = await aScene(world, cast, { mark: 'absence', kinds });

const LIST = '/api/v1/catalog/templates';
const withoutDate = ({ status, text, headers: { date: _, ...headers } }: Answered) => ({ status, text, headers });

/** An answer and its price. The request id is the caller's, so that it is the same. */
async function ask(authorization: string | undefined, path: string) {
  const api = counted.api(authorization);
  let answer: ReturnType<typeof withoutDate> | undefined;
  const statements = await way.during(async () => {
    answer = withoutDate(await api.get(path, { 'X-Request-Id': 'the-same' }));
  });
  return { ...answer, statements };
}

const invisible = seers.flatMap((seer) =>
  scene.things.filter(({ kind }) => kind && !templates[kind][seer]).map(({ slug }) => ({ seer, slug })),
);

test.each(invisible)('$slug is absent for $seer', async ({ seer, slug }) => {
  const authorization = cast.authorizations[seer];
  await ask(authorization, `${LIST}/warm`);
  const absent = await ask(authorization, `${LIST}/${'x'.repeat(slug.length)}`);
  expect(await ask(authorization, `${LIST}/${slug}`)).toEqual(absent);
  expect(absent.status).toBe(404);
  expect(absent.statements).toBeGreaterThan(0);
});

const closed = seers.filter((seer) => !kinds.some((kind) => kind.includes('private') && templates[kind][seer]));

test.each(closed)('a category in which %s sees nothing is one that does not exist', async (seer) => {
  const authorization = cast.authorizations[seer];
  await ask(authorization, `${LIST}?category=warm`);
  for (const rest of ['', '&search=absence', '&tags=absence', '&featured=true', '&page=2']) {
    const absent = await ask(authorization, `${LIST}?category=${'x'.repeat('absence-private'.length)}${rest}`);
    expect(await ask(authorization, `${LIST}?category=absence-private${rest}`)).toEqual(absent);
    expect(absent.status).toBe(200);
  }
});

test('words and tags that only invisible templates have find as little as words that none has', async () => {
  const [, hidden] = [
    await world.aTemplate({ name: 'zebra one' }),
    await world.aTemplate({ name: 'secretword two', tags: ['secrettag'], is_public: false }),
  ];
  for (const query of ['search=secretword', 'tags=secrettag', `search=${hidden.slug}`]) {
    const absent = await ask(undefined, `${LIST}?${query.replace(/=.*/, '=qqqqqqqqqq')}`);
    expect(await ask(undefined, `${LIST}?${query}`)).toEqual(absent);
  }
});

test('a visible template costs a key one statement more, the counting: so the counting of statements counts', async () => {
  const { granted } = cast.authorizations;
  const [visible] = scene.things.filter(({ kind }) => kind === 'public, open, of nobody');
  const absent = await ask(granted, `${LIST}/absent`);
  expect((await ask(granted, `${LIST}/${visible?.slug}`)).statements).toBe(absent.statements + 1);
});
