import { signIn } from '@svc/identity-provider/sign-in';
import { step } from '../bootstrap/steps.mjs';
import { claimDataFolder } from './data-folder.ts';
import { startDatabases } from './databases.ts';
import { writeDemoEnv } from './demo-env.ts';
import {
  type Addresses,
  addressesOf,
  fleetProgram,
  hubAudience,
  hubProgram,
  identityProviderProgram,
  people,
  temporaryAdmin,
} from './environments.ts';
import { demoApiKey, demoTokens, importCatalogOnce, registerLocalEngine, syncCatalog } from './first-run.ts';
import type { Lifetime } from './lifetime.ts';
import { findLocalEngine, type LocalEngine } from './local-engine.ts';
import type { RunFile } from './run-file.ts';
import { openSecrets, type Role, type SecretStore } from './secrets.ts';
import { type Program, startService, untilReady } from './services.ts';
import type { Settings } from './settings.ts';
import { addSimulatedHosts, removeSimulatedHosts, requireOnlySimulatedHosts } from './simulated-hosts.ts';

/** The running product: paths of the demo credentials and of the data of PostgreSQL, and problems, if any. */
export type Product = {
  demoEnv: string;
  postgresData: string;
  syncProblem: string | undefined;
  /** The engine of this machine, which is registered in the fleet as the host `local`. */
  engine: LocalEngine | undefined;
  engineProblem: string | undefined;
  /** The names of the simulated hosts of this start. */
  simulatedHosts: readonly string[];
};

/** Starts all parts in the order of their dependencies. Throws StartError for problems that the user can resolve. */
export async function startProduct(settings: Settings, lifetime: Lifetime): Promise<Product> {
  const { signal } = lifetime;
  const runFile = await claimDataFolder(settings, lifetime);
  const store = openSecrets(settings.dataDir);
  const databases = await step('starting PostgreSQL', () => startDatabases(settings, store.secrets, lifetime));
  const start = async (program: Program) => {
    signal.throwIfAborted();
    runFile.add(program.name, startService(program, settings.dataDir, lifetime));
    await step(`starting ${program.name}`, () => untilReady(program, signal));
  };

  const identityProvider = identityProviderProgram(settings, store.secrets);
  const hub = hubProgram(settings, databases.hub, store.secrets);
  await Promise.all([start(identityProvider), start(hub)]);
  const [hubApiKey, adminJwt, userJwt] = await Promise.all([
    demoApiKey(hub, store, signal),
    jwtOf(people.admin, identityProvider.url),
    jwtOf(people.user, identityProvider.url),
    step('importing the catalog', () => importCatalogOnce(hub, store, signal)),
  ]);

  const fleet = fleetProgram(settings, databases.fleet, { ...store.secrets, hubApiKey });
  await start(fleet);
  const tokens = await demoTokens(fleet, store, signal);
  const syncProblem = await step('syncing the catalog', () => syncCatalog(fleet, tokens.admin, signal));
  const hosts = await prepareHosts(settings, fleet, { token: tokens.admin, store, runFile, lifetime });
  const demoEnv = writeDemoEnv(settings.dataDir, {
    ...variablesOf(addressesOf(settings), tokens),
    HUB_ADMIN_JWT: adminJwt,
    HUB_USER_JWT: userJwt,
    HUB_API_KEY: hubApiKey,
    TEMP_ADMIN_USERNAME: temporaryAdmin,
    TEMP_ADMIN_PASSWORD: store.secrets.temporaryAdminPassword,
  });
  return { demoEnv, postgresData: databases.dataDir, syncProblem, ...hosts };
}

type Hosts = Pick<Product, 'engine' | 'engineProblem' | 'simulatedHosts'>;
type FleetTarget = { token: string; store: SecretStore; runFile: RunFile; lifetime: Lifetime };

/** Removes the simulated hosts of an earlier start. Then adds new ones, or registers the engine of this machine. */
async function prepareHosts(
  { demo, engineSockets }: Settings,
  fleet: Program,
  { token, store, runFile, lifetime }: FleetTarget,
): Promise<Hosts> {
  const { signal } = lifetime;
  if (demo) await requireOnlySimulatedHosts(fleet, { token, store, signal });
  if (store.secrets.simulatedHosts?.length) {
    const remove = () => removeSimulatedHosts(fleet, { token, store, signal });
    await step('removing the simulated hosts of an earlier start', remove);
  }
  if (demo) {
    const add = () => addSimulatedHosts(fleet, { token, store, lifetime, add: runFile.add });
    const simulatedHosts = await step('adding simulated hosts', add);
    return { engine: undefined, engineProblem: undefined, simulatedHosts };
  }
  const engine = await findLocalEngine(engineSockets);
  const engineProblem = engine && (await registerLocalEngine(fleet, { token, engine }, signal));
  return { engine, engineProblem, simulatedHosts: [] };
}

async function jwtOf(email: string, issuer: string) {
  return (await signIn({ issuer, email, password: people.password, resource: hubAudience })).accessToken;
}

const variablesOf = (addresses: Addresses, tokens: Record<Role, string>) => ({
  HUB_URL: addresses.hub,
  FLEET_URL: addresses.fleet,
  IDP_URL: addresses.identityProvider,
  FLEET_ADMIN_TOKEN: tokens.admin,
  FLEET_OPERATOR_TOKEN: tokens.operator,
  FLEET_VIEWER_TOKEN: tokens.viewer,
});
