import { setTimeout } from 'node:timers/promises';
import { type ObjectKind, PARTS } from '../objects.ts';

/** Returns the URL of the instance for the next request. */
type NextUrl = () => string;

interface WriterOptions {
  readonly of: ObjectKind;
  readonly writers: number;
  /** Total number of commits of all writers. */
  readonly commits: number;
  readonly admin: string;
  readonly categoryId: string;
  readonly nextUrl: () => NextUrl;
}

/**
 * Starts concurrent writers. Each creates, edits, hides, publishes and deletes its own objects
 * through the API.
 */
export function startWriters({ of, writers, commits, admin, categoryId, nextUrl }: WriterOptions) {
  let left = commits;
  let isOver = false;
  const write = async (writer: number): Promise<void> => {
    const next = nextUrl();
    const ownIds: string[] = [];
    const send = (method: string, body: object) => sendAs(admin, `${next()}/api/v1/admin/${of}`, { method, body });
    while (left-- > 0) {
      const text = `${writer} ${left}`;
      const id = randomElement(ownIds);
      const chance = Math.random();
      if (id === undefined || chance < 0.25) {
        const parts = of === 'applications' ? { parts: PARTS } : {};
        const created = await send('POST', { name: text, category_id: categoryId, ...parts });
        if (created) ownIds.push((created.template ?? created.application).id);
      } else if (chance < 0.8) await send('PUT', { id, description: text });
      else if (chance < 0.95) await send('PUT', { id, description: text, is_public: chance < 0.9 });
      else {
        ownIds.splice(ownIds.indexOf(id), 1);
        await send('DELETE', { id });
      }
    }
  };
  const done = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).finally(() => {
    isOver = true;
  });
  return { done, isOver: () => isOver };
}

/** A machine that is busy can need many. */
const MAX_ATTEMPTS = 60;

/**
 * Sends a write, and retries after a 503, at the time in `Retry-After`. The first attempt may have
 * been committed; the retry then receives a 404 or 409.
 * @throws if the write fails
 */
async function sendAs(authorization: string, url: string, { method, body }: { method: string; body: object }) {
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (answer.ok) return text === '' ? undefined : JSON.parse(text);
    if (attempt > 1 && [404, 409].includes(answer.status)) return undefined;
    if (answer.status !== 503 || attempt === MAX_ATTEMPTS)
      throw new Error(`${method} answered ${answer.status}: ${text}`);
    await setTimeout(Number(answer.headers.get('retry-after')) * 1000);
  }
}

const randomElement = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];

/** Returns the URLs in turn. */
export function alternating(urls: readonly string[]): NextUrl {
  let turn = 0;
  return () => urls[turn++ % urls.length] ?? '';
}

/**
 * Syncs continuously until the writers have ended, and then once more. @returns the number of syncs
 */
export async function poll(sync: () => Promise<unknown>, isOver: () => boolean): Promise<number> {
  for (let count = 1; ; count++) {
    const last = isOver();
    await sync();
    if (last) return count;
  }
}
