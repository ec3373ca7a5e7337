import path from 'node:path';
import type { LocalEngine } from './local-engine.ts';
import type { Role, SecretStore } from './secrets.ts';
import { type Program, runCommand } from './services.ts';
import { repository } from './settings.ts';
import { StartError } from './start-error.ts';

const organization = ['--name', 'Demo organization', '--slug', 'demo', '--tier', 'pro'];

/** Loads the starter catalog once: what a person has changed since is not overwritten at the next start. */
export async function importCatalogOnce(hub: Program, store: SecretStore, signal: AbortSignal): Promise<void> {
  if (store.secrets.catalogImported) return;
  await runCommand(hub, ['import', path.join(repository, 'infra', 'catalog')], signal);
  store.keep({ catalogImported: true });
}

/** The demo organization's API key: the kept one while the hub takes it, else a new one. */
export async function demoApiKey(hub: Program, store: SecretStore, signal: AbortSignal): Promise<string> {
  const kept = store.secrets.hubApiKey;
  if (kept && (await isAccepted(`${hub.url}/api/v1/catalog/organization`, kept, signal))) return kept;
  await runCommand(hub, ['create-organization', ...organization], signal);
  const printed = await runCommand(hub, ['create-api-key', '--organization', 'demo', '--name', 'demo fleet'], signal);
  const hubApiKey = memberOf(printed, 'key');
  store.keep({ hubApiKey });
  return hubApiKey;
}

/** One fleet token for each role: the kept ones while the fleet takes them, else new ones. */
export async function demoTokens(
  fleet: Program,
  store: SecretStore,
  signal: AbortSignal,
): Promise<Record<Role, string>> {
  const token = async (role: Role) => {
    const kept = store.secrets.fleetTokens[role];
    if (kept && (await isAccepted(`${fleet.url}/api/v1/auth/me`, kept, signal))) return kept;
    const printed = await runCommand(fleet, ['create-token', '--name', `demo-${role}`, '--role', role], signal);
    const made = memberOf(printed, 'secret');
    store.keep({ fleetTokens: { ...store.secrets.fleetTokens, [role]: made } });
    return made;
  };
  const [admin, operator, viewer] = await Promise.all([token('admin'), token('operator'), token('viewer')]);
  return { admin, operator, viewer };
}

/** Lets the fleet fetch the catalog now. Answers what went wrong, if anything: the fleet tries again by itself. */
export async function syncCatalog(fleet: Program, token: string, signal: AbortSignal): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${fleet.url}/api/v1/catalog/sync`, { method: 'POST', headers, signal });
  return response.ok ? undefined : `${response.status} ${await response.text()}`;
}

/**
 * Registers this machine's own engine as the host `local`, unless there is a host of that name already.
 * @returns what went wrong, if anything
 */
export async function registerLocalEngine(
  fleet: Program,
  { token, found }: { token: string; found: LocalEngine },
  signal: AbortSignal,
): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'local', ...found, network_types: ['mesh', 'public'] });
  const response = await fetch(`${fleet.url}/api/v1/hosts`, { method: 'POST', headers, body, signal });
  return response.ok || response.status === 409 ? undefined : `${response.status} ${await response.text()}`;
}

async function isAccepted(url: string, credential: string, signal: AbortSignal) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${credential}` }, signal });
  await response.arrayBuffer();
  return response.status !== 401;
}

/** A member of the JSON line that a command printed, among the lines of its log. */
function memberOf(printed: string, member: string): string {
  for (const line of printed.split('\n').filter((text) => text.startsWith('{'))) {
    const value = (JSON.parse(line) as Record<string, unknown>)[member]; // a JSON text that begins so is an object
    if (typeof value === 'string') return value;
  }
  throw new StartError(`A command printed no line with "${member}": ${printed}`);
}
