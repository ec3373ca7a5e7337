import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { writePrivateFile } from './private-file.ts';
import { StartError } from './start-error.ts';

export type Role = 'admin' | 'operator' | 'viewer';

/** What is kept from one start to the next. Without it the databases can't be opened, so they belong together. */
export type Secrets = {
  /** Names the folder of the databases that these secrets open: new secrets never meet old data. */
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
};

export type SecretStore = { readonly secrets: Readonly<Secrets>; keep(news: Partial<Secrets>): void };

/** The secrets kept in the data folder, made there (`secrets.json`, mode 600) when there are none. Throws StartError. */
export function openSecrets(dataDir: string): SecretStore {
  const file = path.join(dataDir, 'secrets.json');
  const store = {
    secrets: fs.existsSync(file) ? readSecrets(file) : makeSecrets(),
    keep(news: Partial<Secrets>) {
      store.secrets = { ...store.secrets, ...news };
      writePrivateFile(file, `${JSON.stringify(store.secrets, null, 2)}\n`);
    },
  };
  if (!fs.existsSync(file)) store.keep({});
  return store;
}

function readSecrets(file: string): Secrets {
  try {
    // Only we write this file, whole; a member that is missing is made.
    return { ...makeSecrets(), ...(JSON.parse(fs.readFileSync(file, 'utf8')) as Partial<Secrets>) };
  } catch (cause) {
    throw new StartError(`${file} can't be read: mend it, or choose another data folder with DATA_DIR.`, { cause });
  }
}

function makeSecrets(): Secrets {
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
