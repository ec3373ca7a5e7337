import path from 'node:path';
import type { LocalEngine } from './local-engine.ts';
import type { Role, SecretStore } from './secrets.ts';
import { type Program, runCommand } from './services.ts';
import { repository } from './settings.ts';
import { StartError } from './start-error.ts';

const organization = ['--name', 'Demo organization', '--slug', 'demo', '--tier', 'pro'];

/** Imports the starter catalog only at the first start, so that later starts do not overwrite changes. */
export async function importCatalogOnce(hub: Program, store: SecretStore, signal: AbortSignal): Promise<void> {
  if (store.secrets.catalogImported) return;
  await runCommand(hub, ['import', path.join(repository, 'infra', 'catalog')], signal);
  store.update({ catalogImported: true });
}

/** The API key of the demo organization: the stored key if the hub accepts it, or else a new key. */
export async function demoApiKey(hub: Program, store: SecretStore, signal: AbortSignal): Promise<string> {
  const stored = store.secrets.hubApiKey;
  if (stored && (await isAccepted(`${hub.url}/api/v1/catalog/organization`, stored, signal))) return stored;
  await runCommand(hub, ['create-organization', ...organization], signal);
  const printed = await runCommand(hub, ['create-api-key', '--organization', 'demo', '--name', 'demo fleet'], signal);
  const hubApiKey = memberOf(printed, 'key');
  store.update({ hubApiKey });
  return hubApiKey;
}

/** A fleet token for each role: the stored token if the fleet accepts it, or else a new token. */
export async function demoTokens(
  fleet: Program,
  store: SecretStore,
  signal: AbortSignal,
): Promise<Record<Role, string>> {
  const token = async (role: Role) => {
    const stored = store.secrets.fleetTokens[role];
    if (stored && (await isAccepted(`${fleet.url}/api/v1/auth/me`, stored, signal))) return stored;
    const printed = await runCommand(fleet, ['create-token', '--name', `demo-${role}`, '--role', role], signal);
    const secret = memberOf(printed, 'secret');
    store.update({ fleetTokens: { ...store.secrets.fleetTokens, [role]: secret } });
    return secret;
  };
  const [admin, operator, viewer] = await Promise.all([token('admin'), token('operator'), token('viewer')]);
  return { admin, operator, viewer };
}

/** Syncs the mirror of the fleet now. Resolves to the error, if any. The fleet retries by itself. */
export async function syncCatalog(fleet: Program, token: string, signal: AbortSignal): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${fleet.url}/api/v1/catalog/sync`, { method: 'POST', headers, signal });
  return response.ok ? undefined : `${response.status} ${await response.text()}`;
}

/**
 * Registers the engine of this machine as the host `local`, unless a host with this name exists.
 * @returns the error, if any
 */
export async function registerLocalEngine(
  fleet: Program,
  { token, engine }: { token: string; engine: LocalEngine },
  signal: AbortSignal,
): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const addresses = { mesh: '127.0.0.1', public: '127.0.0.1' }; // only this machine can connect to its deployments
  const body = JSON.stringify({ name: 'local', ...engine, network_types: Object.keys(addresses), addresses });
  const response = await fetch(`${fleet.url}/api/v1/hosts`, { method: 'POST', headers, body, signal });
  return response.ok || response.status === 409 ? undefined : `${response.status} ${await response.text()}`;
}

async function isAccepted(url: string, credential: string, signal: AbortSignal) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${credential}` }, signal });
  await response.arrayBuffer();
  return response.status !== 401;
}

/** A member of the JSON line in the output of a command. The output also contains log lines. */
function memberOf(printed: string, member: string): string {
  for (const line of printed.split('\n').filter((text) => text.startsWith('{'))) {
    const value = (JSON.parse(line) as Record<string, unknown>)[member]; // JSON that starts with { is an object
    if (typeof value === 'string') return value;
  }
  throw new StartError(`The output of a command has no line with "${member}": ${printed}`);
}
