import { randomUUID } from 'node:crypto';
import { ask, type LoadResult, type RequestOptions } from '@svc/testing/faults';

type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

interface LedgerTarget {
  /** The address of the fleet. It may change when the fleet restarts. */
  readonly url: () => string;
  /** The MCP token of an admin. */
  readonly secret: string;
}

interface Entry {
  readonly request_id: string;
  readonly status: number;
}

/**
 * Sends requests with an MCP token, each with its own id, and records the responses and the
 * acknowledged changes.
 */
export function openLedger({ url, secret }: LedgerTarget) {
  const answered = new Map<string, number>();
  const tokens = new Map<string, 'active' | 'revoked'>();
  let changes = 0;

  const send = async (path: string, options: RequestOptions = {}): Promise<LoadResult> => {
    const id = randomUUID();
    const known = { authorization: `Bearer ${secret}`, headers: { 'X-Request-Id': id } };
    const seen = await ask(() => `${url()}${path}`, { ...options, ...known });
    answered.set(id, seen.status);
    return seen;
  };
  const acknowledge = (id: string, state: 'active' | 'revoked') => {
    tokens.set(id, state);
    changes += 1;
  };

  /** A writer creates a token, revokes it, and then creates the next one. */
  const writer = (name: string): (() => Promise<LoadResult>) => {
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
    /** A reader requests one path. */
    reader: (path: string) => () => send(path),
    acknowledged: () => changes,
    /** Acknowledged changes that are missing, as text. The list is empty if nothing was lost. */
    lost: async (query: Query): Promise<string[]> => {
      const rows = await query('SELECT id, revoked_at IS NOT NULL AS revoked FROM tokens');
      const found = new Map(rows.map(({ id, revoked }) => [String(id), revoked]));
      return [...tokens].flatMap(([id, state]) => {
        if (!found.has(id)) return [`token ${id} is not there`];
        return state === 'revoked' && !found.get(id) ? [`token ${id} is not revoked`] : [];
      });
    },
    /**
     * Requests with wrong audit entries, as text. A request with a response has exactly one entry,
     * with the status of the response. A request without a response has at most one. After a 503,
     * the change may have been made and recorded, or there may be no entry.
     */
    misrecorded: async (query: Query): Promise<string[]> => {
      const rows = (await query('SELECT request_id, status FROM audit_entries')) as readonly unknown[] as Entry[];
      const entries = new Map<string, number[]>();
      for (const { request_id, status } of rows) entries.set(request_id, [...(entries.get(request_id) ?? []), status]);
      return [...answered].flatMap(([id, status]) => {
        const found = entries.get(id) ?? [];
        const isRight = status === 0 || status === 503 ? found.length <= 1 : found.length === 1 && found[0] === status;
        return isRight ? [] : [`request ${id} with the response ${status} is recorded as [${found}]`];
      });
    },
  };
}
