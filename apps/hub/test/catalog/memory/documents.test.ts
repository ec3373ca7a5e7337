import { randomUUID } from 'node:crypto';
import type { Reader } from '@svc/database';
import { templates } from '../../../src/catalog/kinds.ts';
import { createDocuments, type Version } from '../../../src/catalog/memory/documents.ts';
import { writeCatalog } from '../../../src/database/catalog-write.ts';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
afterAll(() => world.stop());
const { reader } = world.database;

const version = async (id: string, from: Reader = reader): Promise<Version> => {
  const rows = await from.read<{ updated_at: Date; shown_at: Date }>(Prisma.sql`
    SELECT t.updated_at, c.shown_at FROM templates t JOIN categories c ON c.id = t.category_id WHERE t.id = ${id}::uuid`);
  const [{ updated_at, shown_at } = { updated_at: new Date(), shown_at: new Date() }] = rows;
  return { id, updatedAt: updated_at.getTime(), shownAt: shown_at.getTime() };
};
const textOf = (documents: Awaited<ReturnType<ReturnType<typeof createDocuments>['of']>>) =>
  documents?.map(({ parts: [before] }) => String(before));
const setDescription = (id: string, description: string) =>
  writeCatalog(world.database, ({ template }) => template.update({ where: { id }, data: { description } }));

/** A reader that counts its statements, and waits before each of them. */
function countedReader(ready: Promise<void> = Promise.resolve()) {
  let statements = 0;
  const read: Reader['read'] = async (statement) => {
    statements += 1;
    await ready;
    return reader.read(statement);
  };
  return { read, statements: () => statements };
}

test('one statement loads a document for all callers that wait for it', async () => {
  const { id } = await world.aTemplate({ description: 'first' });
  const counted = countedReader();
  const documents = createDocuments(counted, templates);
  const wanted = [await version(id)];
  const all = await Promise.all([documents.of(wanted), documents.of(wanted), documents.of(wanted)]);
  expect(all.map(textOf)).toEqual(Array.from({ length: 3 }, () => [expect.stringContaining('first')]));
  expect(counted.statements()).toBe(1);
});

test('a snapshot reads its own version, and does not replace a later one', async () => {
  const { id } = await world.aTemplate({ description: 'first' });
  const counted = countedReader();
  const documents = createDocuments(counted, templates);
  await reader.inSnapshot(async (snapshot) => {
    const first = await version(id, snapshot);
    await setDescription(id, 'second');
    const second = await version(id);
    expect(textOf(await documents.of([second]))).toEqual([expect.stringContaining('second')]);
    expect(textOf(await documents.of([first], snapshot))).toEqual([expect.stringContaining('first')]);
    expect(await documents.of([first])).toBeUndefined();
    const before = counted.statements();
    expect(textOf(await documents.of([second]))).toEqual([expect.stringContaining('second')]);
    expect(counted.statements()).toBe(before);
  });
});

test('a failed load of another caller does not fail a caller with its own reader', async () => {
  const { id } = await world.aTemplate({ description: 'first' });
  const failing: Reader = { read: () => Promise.reject(new Error('no connection')) };
  const documents = createDocuments(failing, templates);
  const wanted = [await version(id)];
  const failed = documents.of(wanted);
  const own = documents.of(wanted, reader);
  await expect(failed).rejects.toThrow('no connection');
  expect(textOf(await own)).toEqual([expect.stringContaining('first')]);
});

test('many documents are read in parts, which concurrent callers share', async () => {
  const { id } = await world.aTemplate({ description: 'one of many' });
  const { updatedAt, shownAt } = await version(id);
  const found: Record<string, unknown>[] = [];
  await createDocuments(
    {
      read: async (statement) => {
        const rows = await reader.read(statement);
        found.push(...rows);
        return rows as never; // the reader returns rows of any type
      },
    },
    templates,
  ).of([{ id, updatedAt, shownAt }]);
  const sizes: number[] = [];
  /** A reader of a database in which each template has the same content. */
  const many: Reader = {
    read: async ({ values }) => {
      const ids = values.find((value): value is string[] => Array.isArray(value)) ?? [];
      sizes.push(ids.length);
      return ids.map((each) => ({ ...found[0], id: each })) as never; // as above
    },
  };
  const documents = createDocuments(many, templates);
  const wanted = Array.from({ length: 230 }, () => ({ id: randomUUID(), updatedAt, shownAt }));
  const all = await Promise.all([documents.of(wanted), documents.of(wanted)]);
  for (const read of all) expect(textOf(read)).toEqual(wanted.map((each) => expect.stringContaining(each.id)));
  expect(sizes).toEqual([50, 50, 50, 50, 30]);
});
