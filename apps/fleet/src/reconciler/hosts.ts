import type { Log, OutboundAllowance } from '@svc/http';
import { z } from 'zod';
import type { Database } from '../database/client.ts';
import type { HostAddress } from '../engines/docker/address.ts';
import { connect } from '../engines/docker/client.ts';
import type { Client } from '../engines/docker/engine-client.ts';
import type { Host } from '../generated/prisma/client.ts';
import { placeOfCredentials } from '../hosts/credentials.ts';
import type { Sealer } from '../sealing.ts';

/** Clients for the engines of hosts; kept from call to call, and for a while after the last. */
export interface Engines {
  /** @throws where its credentials do not open */
  of(host: Host): Promise<Client>;
  close(): Promise<void>;
}

/** What work on hosts is done with. */
export interface Tools {
  readonly database: Database;
  readonly engines: Engines;
  readonly log: Log;
}

const sealedShape = z.object({
  address: z.string(),
  ca_certificate: z.string(),
  certificate: z.string(),
  key: z.string(),
});

interface Options {
  readonly sealer: Sealer;
  /** What endpoints may be besides public: `OUTBOUND_ALLOW`. */
  readonly allowed: ReadonlySet<OutboundAllowance>;
}

/** Hosts that are there are asked far more often; what nobody asks any more was deleted. */
const IDLE_MS = 600_000;

interface Known {
  readonly key: string;
  readonly client: Client;
  readonly usedAt: number;
}

export function createEngines({ sealer, allowed }: Options): Engines {
  const known = new Map<string, Known>();
  const forget = async (id: string, { client }: Known) => {
    known.delete(id);
    await client.close();
  };
  return {
    of: async (host) => {
      const usedAt = Date.now();
      const key = JSON.stringify([host.engine, host.endpoint, host.sealed, host.by_admin]);
      const present = known.get(host.id);
      const client = present?.key === key ? present.client : connect(await addressOf(sealer, host, allowed));
      known.set(host.id, { key, client, usedAt });
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

/** What was sealed for an address goes to that address only; what no admin registered is never on this machine. */
async function addressOf(sealer: Sealer, host: Host, allowed: ReadonlySet<OutboundAllowance>): Promise<HostAddress> {
  const restrictTo = host.by_admin
    ? allowed
    : new Set([...allowed].filter((each) => each !== 'unix' && each !== 'loopback'));
  const { engine, endpoint, id, sealed } = host;
  if (sealed === null) return { engine, endpoint, credentials: null, restrictTo };
  const opened = sealedShape.parse(JSON.parse(await sealer.open(placeOfCredentials(id), sealed)));
  if (opened.address !== endpoint) throw new Error('the credentials of a host are for another endpoint');
  return { engine, endpoint, credentials: opened, restrictTo };
}
