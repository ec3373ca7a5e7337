import { DEVELOPMENT_PROVIDER, fetchKeys, isDevelopmentProvider } from '@svc/auth';
import type { Send } from '@svc/contract';
import { createSealer, databaseChecks, encryptionFinding } from '@svc/database';
import { type AuditDeliverySettings, auditDeliveryCheck } from '@svc/delivery';
import {
  type Command,
  clockCheck,
  configurationCheck,
  createOutbound,
  type DoctorCheck,
  type DoctorChecks,
  diskCheck,
  doctorCommand,
  type Finding,
  failed,
  ok,
  portCheck,
  recordClock,
  warning,
} from '@svc/http';
import { type Config, readConfig } from '../config.ts';
import { type Database, openDatabase } from '../database/client.ts';
import { encryptionOf, missingKeys, WITHOUT_KEYS } from '../database/encryption.ts';
import { version } from '../version.ts';
import { checkStoredValues } from './doctor-values.ts';

/** The checks run one statement at a time. `openDatabase` reserves connections, which they do not open. */
const CONNECTIONS = 6;
const ISSUER_LIMITS = { timeoutMs: 3000, maxBytes: 512 * 1024 };

/** The command that checks what the hub depends on. */
export const doctor = (prismaDir: string): Command =>
  doctorCommand({
    service: 'hub',
    version,
    prepare: () => {
      const configuration = configurationCheck(readConfig);
      const outbound = createOutbound(ISSUER_LIMITS);
      let opened: Database | undefined;
      const database = () => {
        opened ??= openDatabase(configuration.config().DATABASE_URL, () => undefined, { connections: CONNECTIONS });
        return opened;
      };
      return {
        checks: hubChecks({ prismaDir, configuration, database, send: outbound.send }),
        close: async () => {
          await Promise.all([opened?.close(), outbound.close()]);
        },
      };
    },
  });

/** What the checks of a running hub use of it. */
export interface RunningHub {
  readonly database: Database;
  /** Sends requests to the identity provider. */
  readonly send: Send;
}

/** The checks of a running hub, with its connections. */
export const checksOfRunning = (prismaDir: string, { database, send }: RunningHub): DoctorChecks => ({
  checks: hubChecks({
    prismaDir,
    configuration: configurationCheck(readConfig),
    database: () => database,
    send,
  }),
  close: async () => undefined,
});

type Settings = Pick<
  Config,
  | 'DATABASE_URL'
  | 'MIGRATION_DATABASE_URL'
  | 'MIGRATE_ON_START'
  | 'DATABASE_CONNECTIONS'
  | 'ENCRYPTION_KEYS'
  | 'OIDC_ISSUER'
  | 'HOST'
  | 'PORT'
> &
  AuditDeliverySettings;

interface Checked {
  readonly prismaDir: string;
  readonly configuration: { readonly check: DoctorCheck; config(): Settings };
  /** Throws without a valid configuration. */
  readonly database: () => Database;
  readonly send: Send;
}

const OWN_PROVIDER = 'Set OIDC_ISSUER to your own identity provider before others can reach the hub.';

/** All checks of a hub, in the order in which they run. */
export function hubChecks({ prismaDir, configuration: { check, config }, database, send }: Checked): DoctorCheck[] {
  const clocks = new Map<string, number>();
  const folders: Record<string, string> = {};
  const onFolder = (folder: string) => {
    folders.database = folder;
  };
  const storedValues: DoctorCheck = {
    name: 'stored values',
    needs: ['schema'],
    run: () => checkStoredValues(database()),
  };
  const issuer: DoctorCheck = {
    name: 'issuer',
    run: async () => {
      const { OIDC_ISSUER: issuer } = config();
      try {
        const { keys } = await fetchKeys({ issuer, send: recordClock(clocks, 'issuer', send) });
        if (keys.length === 0)
          return failed(`${issuer} publishes no signing keys.`, 'Create a signing key at the identity provider.');
        const found = `${issuer} publishes its signing keys (${keys.length}).`;
        const isForDevelopment = await isDevelopmentProvider({ issuer, send });
        return isForDevelopment ? warning(`${found} ${DEVELOPMENT_PROVIDER}`, OWN_PROVIDER) : ok(found);
      } catch (error) {
        return failed(
          `The signing keys of ${issuer} cannot be fetched. ${error instanceof Error ? error.message : String(error)}`,
          'Check OIDC_ISSUER, which must equal the issuer in its discovery document, and that the hub can connect to it.',
        );
      }
    },
  };
  return [
    check,
    ...databaseChecks({ prismaDir, config, clocks, onFolder }),
    { name: 'encryption keys', needs: ['schema'], run: () => checkKeys(database(), config().ENCRYPTION_KEYS) },
    storedValues,
    issuer,
    auditDeliveryCheck(config),
    clockCheck(clocks),
    portCheck(config),
    diskCheck(() => folders),
  ];
}

const SET_KEYS = 'Set ENCRYPTION_KEYS to the keys of this database. docs/backup.md states what to do if they are lost.';

/** The keys are optional while nothing is encrypted. */
async function checkKeys(database: Database, keys: Settings['ENCRYPTION_KEYS']): Promise<Finding> {
  if (keys) return encryptionFinding(encryptionOf(database), createSealer(keys), 'hub');
  const missing = await missingKeys(database);
  return missing === undefined ? ok(WITHOUT_KEYS) : failed(missing, SET_KEYS);
}
