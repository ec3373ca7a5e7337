import { randomUUID } from 'node:crypto';
import { type Asked, ask, type Seen } from '@svc/testing/faults';

type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

interface Place {
  /** Changes when the fleet moves. */
  readonly url: () => string;
  /** Of an admin. */
  readonly secret: string;
}

interface Entry {
  readonly request_id: string;
  readonly status: number;
}

/**
 * Asks and changes with an MCP token, each request under an id of its own, and keeps book: what was answered, and what was
 * acknowledged.
 */
export function openLedger({ url, secret }: Place) {
  const answered = new Map<string, number>();
  const tokens = new Map<string, 'active' | 'revoked'>();
  let changes = 0;

  const send = async (path: string, asked: Asked = {}): Promise<Seen> => {
    const id = randomUUID();
    const known = { authorization: `Bearer ${secret}`, headers: { 'X-Request-Id': id } };
    const seen = await ask(`${url()}${path}`, { ...asked, ...known });
    answered.set(id, seen.status);
    return seen;
  };
  const acknowledge = (id: string, state: 'active' | 'revoked') => {
    tokens.set(id, state);
    changes += 1;
  };

  /** A writer: creates a token, revokes it, begins the next. */
  const writer = (name: string): (() => Promise<Seen>) => {
    let id: string | undefined;
    return async () => {
      const path = '/api/v1/tokens';
      if (id === undefined) {
        const seen = await send(path, { method: 'POST', body: { name, role: 'viewer' } });
        if (seen.status === 201) {
          id = String(seen.body.token.id);
          acknowledge(id, 'active');
        }
        return seen;
      }
      const revoked = id;
      const seen = await send(`${path}/${revoked}`, { method: 'DELETE' });
      if (seen.status === 200) {
        acknowledge(revoked, 'revoked');
        id = undefined;
      }
      return seen;
    };
  };

  return {
    writer,
    /** A reader of one path. */
    reader: (path: string) => () => send(path),
    acknowledged: () => changes,
    /** Acknowledged changes that are not there, in words: an empty list, or something was lost. */
    lost: async (query: Query): Promise<string[]> => {
      const rows = await query('SELECT id, revoked_at IS NOT NULL AS revoked FROM tokens');
      const found = new Map(rows.map(({ id, revoked }) => [String(id), revoked]));
      return [...tokens].flatMap(([id, state]) => {
        if (!found.has(id)) return [`token ${id} is not there`];
        return state === 'revoked' && !found.get(id) ? [`token ${id} is not revoked`] : [];
      });
    },
    /**
     * Requests whose entries are not what they should be, in words. One that was answered has exactly one, with its status;
     * one without an answer has one at most. "Not now" may stand for a change that was made, or for no entry at all.
     */
    misrecorded: async (query: Query): Promise<string[]> => {
      const rows = (await query('SELECT request_id, status FROM audit_entries')) as readonly unknown[] as Entry[];
      const entries = new Map<string, number[]>();
      for (const { request_id, status } of rows) entries.set(request_id, [...(entries.get(request_id) ?? []), status]);
      return [...answered].flatMap(([id, status]) => {
        const found = entries.get(id) ?? [];
        const isRight = status === 0 || status === 503 ? found.length <= 1 : found.length === 1 && found[0] === status;
        return isRight ? [] : [`request ${id}, answered ${status}, is recorded as [${found}]`];
      });
    },
  };
}
