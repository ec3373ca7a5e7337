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
  hubEncryptionKeys: string;
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
  const stored = fs.existsSync(file) ? readSecrets(file) : {};
  const created = createSecrets();
  const store = {
    secrets: { ...created, ...stored },
    update(changes: Partial<Secrets>) {
      store.secrets = { ...store.secrets, ...changes };
      writePrivateFile(file, `${JSON.stringify(store.secrets, null, 2)}\n`);
    },
  };
  // Also those that an earlier version did not store, so that the next start has the same ones.
  if (Object.keys(created).some((name) => !(name in stored))) store.update({});
  return store;
}

function readSecrets(file: string): Partial<Secrets> {
  try {
    // Only this module writes the file, atomically.
    return JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<Secrets>;
  } catch (cause) {
    throw new StartError(`${file} is not readable. Repair it, or choose another data folder with DATA_DIR.`, { cause });
  }
}

function createSecrets(): Secrets {
  const password = () => randomBytes(24).toString('base64url');
  const encryptionKey = () => `local:${randomBytes(32).toString('base64')}`;
  return {
    databaseFolder: randomBytes(4).toString('hex'),
    postgresPassword: password(),
    hubPassword: password(),
    fleetPassword: password(),
    encryptionKeys: encryptionKey(),
    hubEncryptionKeys: encryptionKey(),
    temporaryAdminPassword: password(),
    fleetClientSecret: password(),
    catalogImported: false,
    fleetTokens: {},
  };
}
