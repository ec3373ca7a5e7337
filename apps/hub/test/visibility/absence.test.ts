// Responses for invisible templates and categories equal those for unknown ones, also in headers
// and number of statements.
import type { Answered } from '@svc/testing';
import { writeCatalog } from '../../src/database/catalog-write.ts';
import { startWorld } from '../world.ts';
import { startCountedInstance } from './counting-proxy.ts';
import { createCallers, createFixture } from './fixture.ts';
import { admittedCallers, kinds, templates } from './table.ts';

const world = await startWorld();
const counted = await startCountedInstance(world);
afterAll(async () => {
  await counted.stop();
  await world.stop();
});
const callers = await createCallers(world);
const fixture = await createFixture(world, callers, { label: 'absence', kinds });

const LIST = '/api/v1/catalog/templates';
const withoutDate = ({ status, text, headers: { date: _, ...headers } }: Answered) => ({ status, text, headers });

/**
 * A response and the number of statements. The request id is given, so that responses can be
 * compared.
 */
async function ask(authorization: string | undefined, path: string) {
  const api = counted.api(authorization);
  let answer: ReturnType<typeof withoutDate> | undefined;
  const statements = await counted.during(async () => {
    answer = withoutDate(await api.get(path, { 'X-Request-Id': 'the-same' }));
  });
  return { ...answer, statements };
}

const invisible = admittedCallers.flatMap((caller) =>
  fixture.rows.filter(({ kind }) => kind && !templates[kind][caller]).map(({ slug }) => ({ caller, slug })),
);

test.each(invisible)('answers alike for $slug and for an unknown slug to $caller', async ({ caller, slug }) => {
  const authorization = callers.authorizations[caller];
  await ask(authorization, `${LIST}/warm`);
  const absent = await ask(authorization, `${LIST}/${'x'.repeat(slug.length)}`);
  expect(await ask(authorization, `${LIST}/${slug}`)).toEqual(absent);
  expect(absent.status).toBe(404);
  expect(absent.statements).toBeGreaterThan(0);
});

const callersWithoutPrivate = admittedCallers.filter(
  (caller) => !kinds.some((kind) => kind.includes('private') && templates[kind][caller]),
);

test.each(callersWithoutPrivate)('answers alike for an invisible and for an unknown category to %s', async (caller) => {
  const authorization = callers.authorizations[caller];
  await ask(authorization, `${LIST}?category=warm`);
  for (const rest of ['', '&search=absence', '&tags=absence', '&featured=true', '&page=2']) {
    // The filters are evaluated once for all categories.
    await ask(authorization, `${LIST}?category=warm${rest}`);
    const absent = await ask(authorization, `${LIST}?category=${'x'.repeat('absence-private'.length)}${rest}`);
    expect(await ask(authorization, `${LIST}?category=absence-private${rest}`)).toEqual(absent);
    expect(absent.status).toBe(200);
  }
});

test('answers alike for words and tags of invisible templates and for unknown words and tags', async () => {
  await world.aTemplate({ name: 'zebra one' });
  const hidden = await world.aTemplate({ name: 'secretword two', tags: ['secrettag'], is_public: false });
  await ask(undefined, `${LIST}/warm`); // reads the new templates into the index
  await ask(undefined, `${LIST}?q=warm`); // and their words
  for (const [turn, query] of [
    'search=secretword',
    'tags=secrettag',
    `search=${hidden.slug}`,
    'q=secretword',
    'q=two&tags=secrettag',
  ].entries()) {
    const absent = await ask(undefined, `${LIST}?${query.replace(/=.*/, `=qqqqqqqqq${turn}`)}`);
    expect(await ask(undefined, `${LIST}?${query}`)).toEqual(absent);
  }
});

test('the proxy counts the additional statement for a visible template that is read for the first time', async () => {
  const { granted } = callers.authorizations;
  const visible = await world.aTemplate();
  await ask(granted, `${LIST}/warm`);
  const absent = await ask(granted, `${LIST}/absent`);
  expect((await ask(granted, `${LIST}/${visible.slug}`)).statements).toBe(absent.statements + 1);
});

test('an invisible change shows only its moment, in the position and the entity tag of the updates', async () => {
  const UPDATES = `${LIST}/updates?since=1970-01-01T00:00:00Z`;
  const hidden = await world.aTemplate({ is_public: false });
  const read = async (path: string) => {
    const { status, body, headers } = await world.anonymous.get(path);
    return { status, body, etag: headers.etag };
  };
  const lists = [LIST, `${LIST}?view=summary`, '/api/v1/catalog/categories'];
  const before = { updates: await read(UPDATES), lists: await Promise.all(lists.map(read)) };
  await writeCatalog(world.database, ({ template }) =>
    template.update({ where: { id: hidden.id }, data: { description: 'changed' } }),
  );
  const after = { updates: await read(UPDATES), lists: await Promise.all(lists.map(read)) };
  expect(after.lists).toEqual(before.lists);
  const { checked_at, cursor, ...rest } = after.updates.body;
  const { checked_at: lastCheckedAt, cursor: lastCursor, ...restBefore } = before.updates.body;
  expect(rest).toEqual(restBefore);
  // The documented exception: decision 92.
  expect(Date.parse(checked_at)).toBeGreaterThan(Date.parse(lastCheckedAt));
  expect(cursor).not.toBe(lastCursor);
  expect(after.updates.etag).not.toBe(before.updates.etag);
});
