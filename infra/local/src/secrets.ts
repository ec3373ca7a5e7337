import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { writePrivateFile } from './private-file.ts';
import { StartError } from './start-error.ts';

export type Role = 'admin' | 'operator' | 'viewer';

/** Secrets that are stored across starts. Without them, the databases cannot be used, so both are in the data folder. */
export type Secrets = {
  /** The folder of the databases for these secrets, so that new secrets are never used with old data. */
  databaseFolder: string;
  postgresPassword: string;
  hubPassword: string;
  fleetPassword: string;
  encryptionKeys: string;
  temporaryAdminPassword: string;
  fleetClientSecret: string;
  catalogImported: boolean;
  hubApiKey?: string;
  fleetTokens: Partial<Record<Role, string>>;
  /** The ids of the hosts and workloads that a start with `--demo` has created. */
  simulatedHosts?: readonly string[];
  simulatedWorkloads?: readonly string[];
};

export type SecretStore = { readonly secrets: Readonly<Secrets>; update(changes: Partial<Secrets>): void };

/** Reads the secrets in the data folder (`secrets.json`, mode 600), or creates them. Throws StartError. */
export function openSecrets(dataDir: string): SecretStore {
  const file = path.join(dataDir, 'secrets.json');
  const store = {
    secrets: fs.existsSync(file) ? readSecrets(file) : createSecrets(),
    update(changes: Partial<Secrets>) {
      store.secrets = { ...store.secrets, ...changes };
      writePrivateFile(file, `${JSON.stringify(store.secrets, null, 2)}\n`);
    },
  };
  if (!fs.existsSync(file)) store.update({});
  return store;
}

function readSecrets(file: string): Secrets {
  try {
    // Only this module writes the file, atomically. Missing members are created.
    return { ...createSecrets(), ...(JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<Secrets>) };
  } catch (cause) {
    throw new StartError(`${file} is not readable. Repair it, or choose another data folder with DATA_DIR.`, { cause });
  }
}

function createSecrets(): Secrets {
  const password = () => randomBytes(24).toString('base64url');
  return {
    databaseFolder: randomBytes(4).toString('hex'),
    postgresPassword: password(),
    hubPassword: password(),
    fleetPassword: password(),
    encryptionKeys: `local:${randomBytes(32).toString('base64')}`,
    temporaryAdminPassword: password(),
    fleetClientSecret: password(),
    catalogImported: false,
    fleetTokens: {},
  };
}
