import type { Client } from '../engines/docker/engine-client.ts';

/**
 * A client that asks for nothing once the lease of its work is over, also where the process was frozen and goes on before it hears
 * of it: what was deleted meanwhile would be made again.
 */
export const whileHeld = (client: Client, mustHold: () => void): Client => ({
  address: client.address,
  timing: client.timing,
  hello: () => client.hello(),
  ask: async (request) => {
    mustHold();
    return client.ask(request);
  },
  read: async (request, schema) => {
    mustHold();
    return client.read(request, schema);
  },
  open: async (request) => {
    mustHold();
    return client.open(request);
  },
  within: (signal) => whileHeld(client.within(signal), mustHold),
  close: () => client.close(),
});
