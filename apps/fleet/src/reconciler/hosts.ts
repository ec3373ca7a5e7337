import { z } from 'zod';
import type { HostAddress, Timing } from '../engines/docker/address.ts';
import { connect } from '../engines/docker/client.ts';
import type { Client } from '../engines/docker/engine-client.ts';
import type { Host } from '../generated/prisma/client.ts';
import { placeOfCredentials } from '../hosts/credentials.ts';
import { allowanceFor, type ClientOptions, type Clients, keepClients } from './clients.ts';

export type HostClients = Clients<Host, Client>;

export const createHostClients = (options: ClientOptions, timing?: Timing): HostClients =>
  keepClients({
    keyOf: ({ engine, endpoint, sealed, by_admin }) => [engine, endpoint, sealed, by_admin],
    connect: async (host) => connect(await addressOf(host, options), timing),
  });

const sealedShape = z.object({
  address: z.string(),
  ca_certificate: z.string(),
  certificate: z.string(),
  key: z.string(),
});

/** What was sealed for an address goes to that address only. */
async function addressOf(host: Host, { sealer, allowed }: ClientOptions): Promise<HostAddress> {
  const { engine, endpoint, id, sealed } = host;
  const restrictTo = allowanceFor(host, allowed);
  if (sealed === null) return { engine, endpoint, credentials: null, restrictTo };
  const opened = sealedShape.parse(JSON.parse(await sealer.open(placeOfCredentials(id), sealed)));
  if (opened.address !== endpoint) throw new Error('the credentials of a host are for another endpoint');
  return { engine, endpoint, credentials: opened, restrictTo };
}
