import { DEVELOPMENT_PROVIDER, isDevelopmentProvider } from '@svc/auth';
import { testProvider } from '@svc/auth/oidc';
import { createSealer, databaseChecks, encryptionFinding, type Sealer } from '@svc/database';
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
import { reasonOf } from '../catalog/hub.ts';
import { type Config, readConfig, settingsEnvironmentOf } from '../config.ts';
import { type Database, openDatabase } from '../database/client.ts';
import { encryptionOf } from '../database/encryption.ts';
import { requireStrongPassword } from '../identity/sessions/temporary-admin.ts';
import { createHubs, type OutboundRoutes } from '../settings/connections.ts';
import { createSettings, type Settings } from '../settings/settings.ts';
import { version } from '../version.ts';
import { checkEngines } from './doctor-engines.ts';
import { checkAdvisories, checkIsolation, checkSecretUses, checkStoredValues } from './doctor-values.ts';

const LIMITS = { timeoutMs: 3000, maxBytes: 1024 * 1024 };
/**
 * The checks run one statement at a time. `openDatabase` reserves three connections, which they do
 * not open.
 */
const CONNECTIONS = 4;

/** The command that checks what the fleet depends on. */
export const doctor = (prismaDir: string): Command =>
  doctorCommand({
    service: 'fleet',
    version,
    prepare: () => {
      const configuration = configurationCheck(readConfig, requireStrongPassword);
      const { config } = configuration;
      const closers: (() => Promise<void>)[] = [];
      let opened: Database | undefined;
      const parts = () => {
        const { ENCRYPTION_KEYS: keys, DATABASE_URL: url } = config();
        opened ??= openDatabase(url, () => undefined, { connections: CONNECTIONS });
        const sealer = createSealer(keys);
        return { database: opened, sealer, settings: createSettings(opened, sealer, settingsEnvironmentOf(config())) };
      };
      const routes = (): OutboundRoutes => {
        const trusted = createOutbound(LIMITS);
        const restricted = createOutbound({ ...LIMITS, restrictTo: config().OUTBOUND_ALLOW });
        closers.push(trusted.close, restricted.close);
        return { trusted, restricted };
      };
      return {
        checks: fleetChecks({ prismaDir, configuration, parts, toHub: routes, toProvider: routes }),
        close: async () => {
          await Promise.all([opened?.close(), ...closers.map((close) => close())]);
        },
      };
    },
  });

/** What the checks of a running fleet use of it. */
export interface RunningFleet extends Parts {
  readonly toHub: OutboundRoutes;
  readonly toProvider: OutboundRoutes;
}

/** The checks of a running fleet, with its connections. */
export const checksOfRunning = (prismaDir: string, { toHub, toProvider, ...parts }: RunningFleet): DoctorChecks => ({
  checks: fleetChecks({
    prismaDir,
    configuration: configurationCheck(readConfig, requireStrongPassword),
    parts: () => parts,
    toHub: () => toHub,
    toProvider: () => toProvider,
  }),
  close: async () => undefined,
});

type CheckedSettings = Pick<
  Config,
  | 'DATABASE_URL'
  | 'MIGRATION_DATABASE_URL'
  | 'MIGRATE_ON_START'
  | 'DATABASE_CONNECTIONS'
  | 'OUTBOUND_ALLOW'
  | 'HOST'
  | 'PORT'
> &
  AuditDeliverySettings;

interface Checked {
  readonly prismaDir: string;
  readonly configuration: { readonly check: DoctorCheck; config(): CheckedSettings };
  /** Throws without a valid configuration, as the routes do. */
  readonly parts: () => Parts;
  /** The routes on which the service also sends its requests. */
  readonly toHub: () => OutboundRoutes;
  readonly toProvider: () => OutboundRoutes;
}

/** All checks of a fleet, in the order in which they run. */
export function fleetChecks({ prismaDir, configuration, parts, toHub, toProvider }: Checked): DoctorCheck[] {
  const { check, config } = configuration;
  const clocks = new Map<string, number>();
  const folders: Record<string, string> = {};
  const onFolder = (folder: string) => {
    folders.database = folder;
  };
  const recorded = (name: string, { trusted, restricted }: OutboundRoutes): OutboundRoutes => ({
    trusted: { ...trusted, send: recordClock(clocks, name, trusted.send) },
    restricted: { ...restricted, send: recordClock(clocks, name, restricted.send) },
  });
  const needs = ['encryption keys'];
  return [
    check,
    ...databaseChecks({ prismaDir, config, clocks, onFolder }),
    { name: 'encryption keys', needs: ['schema'], run: () => checkKeys(parts()) },
    { name: 'stored values', needs: ['schema'], run: () => checkStoredValues(parts().database) },
    { name: 'secrets', needs: ['schema'], run: () => checkSecretUses(parts().database) },
    { name: 'isolation', needs: ['schema'], run: () => checkIsolation(parts().database) },
    { name: 'advisories', needs: ['schema'], run: () => checkAdvisories(parts().database) },
    { name: 'hub', needs, run: () => checkHub(parts(), recorded('hub', toHub())) },
    { name: 'issuer', needs, run: () => checkIssuer(parts(), recorded('issuer', toProvider())) },
    { name: 'engines', needs, run: () => checkEngines({ ...parts(), allowed: config().OUTBOUND_ALLOW }) },
    auditDeliveryCheck(config),
    clockCheck(clocks),
    portCheck(config),
    diskCheck(() => folders),
  ];
}

interface Parts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly settings: Settings;
}

const checkKeys = ({ database, sealer }: Parts): Promise<Finding> =>
  encryptionFinding(encryptionOf(database), sealer, 'fleet');

async function checkHub({ settings }: Parts, routes: OutboundRoutes): Promise<Finding> {
  const hub = createHubs(routes).of(await settings.hub());
  if (!hub) return ok('No hub is configured.');
  try {
    const { organization } = await hub.client.getOwnOrganization();
    return ok(`${hub.url} accepts the API key of the organization ${organization.slug}.`);
  } catch (error) {
    return failed(
      `${hub.url}: ${reasonOf(error)}`,
      'Correct HUB_URL and HUB_API_KEY, or the settings of the hub in the API. The fleet serves its mirror until then.',
    );
  }
}

const OWN_PROVIDER = 'Configure your own identity provider before others can reach the fleet.';

async function checkIssuer({ settings }: Parts, { trusted, restricted }: OutboundRoutes): Promise<Finding> {
  const { issuer, client_id, client_secret, audience, allow_userinfo, isTrusted } = await settings.oidc();
  if (issuer === null || client_id === null) return ok('No identity provider is configured.');
  const provider = { issuer, clientId: client_id, clientSecret: client_secret, audience: audience ?? undefined };
  const { send } = isTrusted ? trusted : restricted;
  const checks = await testProvider({ ...provider, allowUserinfo: allow_userinfo }, send);
  const wrong = checks.filter((each) => !each.ok);
  if (wrong.length === 0) {
    const found = `${issuer} publishes its metadata and keys, and accepts the client.`;
    const isForDevelopment = await isDevelopmentProvider({ issuer, send });
    return isForDevelopment ? warning(`${found} ${DEVELOPMENT_PROVIDER}`, OWN_PROVIDER) : ok(found);
  }
  const found = `${issuer}: ${wrong.map(({ name, detail }) => `${name}: ${detail}`).join('\n')}`;
  const remedy =
    'Correct OIDC_ISSUER and the client, or the OIDC settings in the API. Local users and MCP tokens still work.';
  // Sign-in works without refresh tokens and introspection.
  const isUsable = wrong.every(({ name }) => name === 'refresh tokens' || name === 'introspection');
  return isUsable ? warning(found, remedy) : failed(found, remedy);
}
