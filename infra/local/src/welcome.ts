import path from 'node:path';
import { quoteForShell } from './demo-env.ts';
import { addressesOf, people } from './environments.ts';
import type { Settings } from './settings.ts';
import type { Product } from './start.ts';

/** What is printed once all is up; the last line begins with `ready`. `seconds` is how long that took. */
export function welcome(settings: Settings, product: Product, seconds: number): string {
  const addresses = addressesOf(settings);
  const read = `. ${shellPath(product.demoEnv)}`;
  const bearer = (name: string) => `-H "Authorization: Bearer $${name}"`;
  return [
    '',
    `hub                ${addresses.hub}/docs`,
    `fleet              ${addresses.fleet}/docs`,
    `identity provider  ${addresses.identityProvider} (${people.admin} and ${people.user}, password ${people.password})`,
    `data, logs         ${settings.dataDir}, PostgreSQL's in ${product.postgresData}`,
    `credentials        ${product.demoEnv} (its JWTs last 12 hours; a new start makes new ones)`,
    `host               ${hostLine(product)}`,
    ...(product.syncProblem
      ? ['', `The fleet could not fetch the catalog and will try again: ${product.syncProblem}`]
      : []),
    '',
    'To try:',
    `  ${read}; curl -s "$HUB_URL/api/v1/catalog/templates?limit=3" ${bearer('HUB_API_KEY')}`,
    `  ${read}; curl -s "$HUB_URL/api/v1/admin/templates?limit=3" ${bearer('HUB_ADMIN_JWT')}`,
    `  ${read}; curl -s "$FLEET_URL/api/v1/catalog/sync" ${bearer('FLEET_VIEWER_TOKEN')}`,
    '',
    'Ctrl-C stops everything; the data is kept.',
    `ready in ${seconds.toFixed(1)} s: hub ${addresses.hub}, fleet ${addresses.fleet}`,
  ].join('\n');
}

/** Where deployments can go on this machine. */
function hostLine({ engine, engineProblem }: Product): string {
  if (!engine) return 'none: install Podman (podman.socket) or Docker, and start again; it is then the host `local`';
  if (engineProblem) return `none: ${engine.endpoint} could not be registered: ${engineProblem}`;
  return `local: ${engine.engine === 'podman' ? 'Podman' : 'Docker'} at ${engine.endpoint}`;
}

/** Short where that is inside the current folder; a shell looks for a name without a slash elsewhere. */
function shellPath(file: string) {
  const relative = path.relative('', file);
  const shown = relative.startsWith('..') || !relative.includes('/') ? file : relative;
  return /^[\w./-]+$/.test(shown) ? shown : quoteForShell(shown);
}
