import path from 'node:path';
import { writePrivateFile } from './private-file.ts';
import { repository } from './settings.ts';

/** The content of `demo.env`: URLs and credentials for the examples in README.md. */
export type DemoEnv = Record<
  | 'HUB_URL'
  | 'FLEET_URL'
  | 'IDP_URL'
  | 'HUB_ADMIN_JWT'
  | 'HUB_USER_JWT'
  | 'HUB_API_KEY'
  | 'FLEET_ADMIN_TOKEN'
  | 'FLEET_OPERATOR_TOKEN'
  | 'FLEET_VIEWER_TOKEN'
  | 'TEMP_ADMIN_USERNAME'
  | 'TEMP_ADMIN_PASSWORD',
  string
>;

/** The client of this repository, which runs with the Node of the product. */
const CLIENT = [process.execPath, path.join(repository, 'apps/cli/dist/svc.mjs')];

/**
 * Writes `demo.env`, which a shell can read with `.`, to the data folder. It also defines the command `svc`. @returns its path
 */
export function writeDemoEnv(dataDir: string, values: DemoEnv): string {
  const file = path.join(dataDir, 'demo.env');
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quoteForShell(value)}\n`);
  const svc = `svc() { ${CLIENT.map(quoteForShell).join(' ')} "$@"; }\n`;
  writePrivateFile(file, lines.join('') + svc);
  return file;
}

/** Quotes a text as one word of a POSIX shell. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
