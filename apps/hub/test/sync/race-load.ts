/** Where a client sends its next request. */
type NextUrl = () => string;

interface Writing {
  readonly writers: number;
  /** Of all of them together. */
  readonly commits: number;
  readonly admin: string;
  readonly categoryId: string;
  readonly nextUrl: () => NextUrl;
}

/** Writers beside each other, who create, edit, hide, publish and delete templates of their own through the API. */
export function startWriters({ writers, commits, admin, categoryId, nextUrl }: Writing) {
  let left = commits;
  let over = false;
  const write = async (writer: number): Promise<void> => {
    const next = nextUrl();
    const own: string[] = [];
    const send = (method: string, body: object) => sendAs(admin, `${next()}/api/v1/admin/templates`, { method, body });
    while (left-- > 0) {
      const text = `${writer} ${left}`;
      const id = anyOf(own);
      const chance = Math.random();
      if (id === undefined || chance < 0.25) {
        const created = await send('POST', { name: text, category_id: categoryId });
        if (created) own.push(created.template.id);
      } else if (chance < 0.8) await send('PUT', { id, description: text });
      else if (chance < 0.95) await send('PUT', { id, description: text, is_public: chance < 0.9 });
      else {
        own.splice(own.indexOf(id), 1);
        await send('DELETE', { id });
      }
    }
  };
  const done = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer))).finally(() => {
    over = true;
  });
  return { done, over: () => over };
}

const MOST_TRIES = 5;

/**
 * One write, tried again where a busy machine says "not now": it may have been done all the same, and is then a 404 or a 409.
 * @throws unless it succeeds
 */
async function sendAs(authorization: string, url: string, { method, body }: { method: string; body: object }) {
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (answer.ok) return text === '' ? undefined : JSON.parse(text);
    if (tries > 1 && [404, 409].includes(answer.status)) return undefined;
    if (answer.status !== 503 || tries === MOST_TRIES) throw new Error(`${method} answered ${answer.status}: ${text}`);
  }
}

const anyOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(Math.random() * list.length)];

/** Goes round a list of addresses for ever. */
export function alternating(urls: readonly string[]): NextUrl {
  let turn = 0;
  return () => urls[turn++ % urls.length] ?? '';
}

/** Syncs without a pause until writers are over, and then once more. @returns how often */
export async function poll(sync: () => Promise<unknown>, over: () => boolean): Promise<number> {
  for (let count = 1; ; count++) {
    const last = over();
    await sync();
    if (last) return count;
  }
}
