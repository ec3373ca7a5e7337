import type { OutboundAllowance } from '@svc/http';
import type { Sealer } from '../sealing.ts';

/** Clients for what deployments run on; kept from call to call, and for a while after the last. */
export interface Clients<Row, Client> {
  /** @throws where its credentials do not open */
  of(row: Row): Promise<Client>;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly sealer: Sealer;
  /** What addresses may be besides public: `OUTBOUND_ALLOW`. */
  readonly allowed: ReadonlySet<OutboundAllowance>;
}

/** What is there is asked far more often; what nobody asks any more was deleted. */
const IDLE_MS = 600_000;

interface Connecting<Row, Client> {
  /** All that a client is made of: one with another key is another client. */
  keyOf(row: Row): readonly unknown[];
  connect(row: Row): Promise<Client>;
}

interface Known<Client> {
  readonly key: string;
  readonly client: Client;
  readonly usedAt: number;
}

export function keepClients<Row extends { readonly id: string }, Client extends { close(): Promise<void> }>({
  keyOf,
  connect,
}: Connecting<Row, Client>): Clients<Row, Client> {
  const known = new Map<string, Known<Client>>();
  const forget = async (id: string, { client }: Known<Client>) => {
    known.delete(id);
    await client.close();
  };
  return {
    of: async (row) => {
      const usedAt = Date.now();
      const key = JSON.stringify(keyOf(row));
      const present = known.get(row.id);
      const client = present?.key === key ? present.client : await connect(row);
      known.set(row.id, { key, client, usedAt });
      if (present && present.client !== client) await present.client.close();
      const idle = [...known].filter(([, other]) => usedAt - other.usedAt > IDLE_MS);
      await Promise.all(idle.map(([id, other]) => forget(id, other)));
      return client;
    },
    close: async () => {
      await Promise.all([...known.values()].map(({ client }) => client.close()));
    },
  };
}

/** What may be called for a row: what no admin registered is never on this machine. */
export const allowanceFor = (
  { by_admin }: { readonly by_admin: boolean },
  allowed: ClientOptions['allowed'],
): ClientOptions['allowed'] =>
  by_admin ? allowed : new Set([...allowed].filter((each) => each !== 'unix' && each !== 'loopback'));
