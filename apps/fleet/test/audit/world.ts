import { CONSOLE_URL } from '../auth/console.ts';
import { startFakeHub } from '../fake-hub.ts';
import { listen } from '../raw.ts';
import { startWorld, type TestToken } from '../world.ts';
import { startSmallProvider } from './small-provider.ts';

/** A fleet whose users also sign in at a provider. It stops after the test file. */
export async function startPeopleWorld() {
  const hub = await startFakeHub();
  const provider = await startSmallProvider();
  const oidc = { issuer: provider.issuer, client_id: provider.clientId };
  const world = await startWorld({ hub, oidc, publicUrl: CONSOLE_URL });
  afterAll(async () => {
    await world.stop();
    await provider.stop();
    await hub.stop();
  });
  return { hub, provider, world, client: world.database.client };
}

/** A fleet that listens on a port, for raw HTTP requests. It stops after the test file. */
export async function startWireWorld() {
  const hub = await startFakeHub();
  const world = await startWorld({ hub });
  const fleet = await listen(world.app);
  const { client } = world.database;
  afterAll(async () => {
    await fleet.close();
    await world.stop();
    await hub.stop();
  });
  return {
    hub,
    world,
    fleet,
    client,
    /** The audit entries of a token. */
    entriesOf: ({ id }: TestToken) => client.auditEntry.findMany({ where: { token_id: id } }),
  };
}

/** The Authorization header for a token. */
export const bearer = ({ secret }: TestToken) => `Authorization: Bearer ${secret}`;
