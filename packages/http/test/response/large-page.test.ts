import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { createTurnQueue } from '../../src/limits/turn-queue.ts';
import { etagOfBody } from '../../src/response/etag.ts';
import { replyWithPage } from '../../src/response/large-page.ts';
import { bytesOfRendered } from '../../src/response/special-reply.ts';

/** Large pages of callers, whose parts are read when a test permits it. */
function pages() {
  const queue = createTurnQueue({ what: 'pages', running: 1, waitingPerCaller: 8, waitMs: 600_000 });
  const finished: string[] = [];
  const read: string[][] = [];
  const request = async (caller: string, name: string, sizes: readonly number[]) => {
    await replyWithPage(
      { inTurn: (work, bytes) => queue.run(caller, work, bytes) },
      {
        sizes: sizes.map((bytes, index) => ({ key: `${name}${index}`, bytes })),
        read: async (keys: readonly string[]) => {
          read.push([...keys]);
          return [...keys];
        },
        element: z.string(),
        compose: (items) => ({ items }),
      },
    );
    finished.push(name);
  };
  return { request, finished, read };
}

const MEBIBYTE = 2 ** 20;

test('large pages of one caller wait behind smaller ones of others, and small ones do not wait', async () => {
  const { request, finished } = pages();
  await Promise.all([
    ...['a', 'b', 'c'].map((name) => request('greedy', name, [20 * MEBIBYTE])),
    ...['x', 'y'].map((name) => request('modest', name, [MEBIBYTE])),
    request('another', 'small', [1000]),
  ]);
  expect(finished).toEqual(['small', 'a', 'x', 'y', 'b', 'c']);
});

test('a large page is read in parts of at most 512 KiB, or of one row', async () => {
  const { request, read } = pages();
  await request('caller', 'r', [MEBIBYTE, 300_000, 200_000, 100_000, 1, MEBIBYTE]);
  expect(read).toEqual([['r0'], ['r1', 'r2'], ['r3', 'r4'], ['r5']]);
});

test.each([1000, 2 * MEBIBYTE])(
  'a large page has the JSON and the entity tag of the same reply that is not large',
  async (length) => {
    const row = (key: number) => `${'x'.repeat(length)} ${key} []`;
    const reply = await replyWithPage(
      { inTurn: (work) => work() },
      {
        sizes: [1, 2, 3].map((key) => ({ key, bytes: MEBIBYTE })),
        read: async (keys: readonly number[]) => keys.filter((key) => key !== 2).map(row),
        element: z.string(),
        compose: (items) => ({ items, pagination: { total: 3 } }),
      },
    );
    const body = JSON.stringify({ items: [row(1), row(3)], pagination: { total: 3 } });
    if (!('etag' in reply)) throw new Error('the page is not large');
    const rendered = 'parts' in reply ? Buffer.concat(reply.parts) : reply.body;
    expect(rendered.toString() === body).toBe(true);
    expect([bytesOfRendered(reply), reply.etag]).toEqual([Buffer.byteLength(body), etagOfBody(body)]);
  },
);

test('a page beyond what a caller can receive is refused before it is read', async () => {
  const refuse = (bytes: number) => {
    throw new Error(`${bytes}`);
  };
  const page = { sizes: [{ key: 1, bytes: 1000, shown: 300 }], element: z.string(), compose: () => ({}) };
  const read = () => Promise.reject(new Error('read'));
  await expect(replyWithPage({ inTurn: (work) => work(), refuse }, { ...page, read })).rejects.toThrow('300');
});
