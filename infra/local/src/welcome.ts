import path from 'node:path';
import { quoteForShell } from './demo-env.ts';
import { addressesOf, people } from './environments.ts';
import type { Settings } from './settings.ts';
import type { Product } from './start.ts';

/** The output after the start. The last line begins with `ready`. `seconds` is the duration of the start. */
export function welcome(settings: Settings, product: Product, seconds: number): string {
  const addresses = addressesOf(settings);
  const read = `. ${shellPath(product.demoEnv)}`;
  const bearer = (name: string) => `-H "Authorization: Bearer $${name}"`;
  return [
    '',
    `fleet console      ${addresses.fleet}`,
    `hub console        ${addresses.hub}`,
    `API references     ${addresses.fleet}/docs, ${addresses.hub}/docs`,
    `identity provider  ${addresses.identityProvider} (${people.admin} and ${people.user}, password ${people.password})`,
    `data, logs         ${settings.dataDir}, PostgreSQL's in ${product.postgresData}`,
    `credentials        ${product.demoEnv} (it also defines the client svc; its JWTs are valid for 12 hours, and each start creates new ones)`,
    `host               ${hostLine(product)}`,
    ...(product.syncProblem ? ['', `The fleet could not sync the catalog and will retry: ${product.syncProblem}`] : []),
    '',
    'Examples:',
    `  ${read}; curl -s "$HUB_URL/api/v1/catalog/templates?limit=3" ${bearer('HUB_API_KEY')}`,
    `  ${read}; curl -s "$HUB_URL/api/v1/admin/templates?limit=3" ${bearer('HUB_ADMIN_JWT')}`,
    `  ${read}; curl -s "$FLEET_URL/api/v1/catalog/sync" ${bearer('FLEET_VIEWER_TOKEN')}`,
    '',
    'Ctrl-C stops all processes. The data is kept.',
    `ready in ${seconds.toFixed(1)} s: hub ${addresses.hub}, fleet ${addresses.fleet}`,
  ].join('\n');
}

/** The host for deployments on this machine. */
function hostLine({ engine, engineProblem, simulatedHosts }: Product): string {
  if (simulatedHosts.length > 0) return `${simulatedHosts.join(', ')} (simulated; a start without --demo removes them)`;
  if (!engine) {
    return 'none; install Podman (podman.socket) or Docker and restart, or see simulated hosts: npm start -- --demo';
  }
  if (engineProblem) return `none; ${engine.endpoint} could not be registered: ${engineProblem}`;
  return `local: ${engine.engine === 'podman' ? 'Podman' : 'Docker'} at ${engine.endpoint}`;
}

/** The relative path if the file is in the current folder. It must contain a slash, or else a shell would search PATH. */
function shellPath(file: string) {
  const relative = path.relative('', file);
  const shown = relative.startsWith('..') || !relative.includes('/') ? file : relative;
  return /^[\w./-]+$/.test(shown) ? shown : quoteForShell(shown);
}
