import { quantity } from '@svc/contract';
import { fleetRoles } from '@svc/contract/fleet';
import {
  addressSetting,
  booleanSetting,
  commonSettings,
  databaseSettings,
  numberSetting,
  outboundSetting,
  readSettings,
  secretSetting,
  urlSetting,
} from '@svc/http';
import { z } from 'zod';
import { bytes } from './quantities.ts';
import type { SettingsEnvironment } from './settings/settings.ts';

const common = commonSettings({ port: '4200' });

/** A key id, and 32 bytes in base64. */
const ENCRYPTION_KEY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** `<id>:<32 bytes in base64>`, comma-separated. The first key encrypts. */
const encryptionKeys = z.string().transform((text, context) => {
  const keys = text.split(',').flatMap((entry) => {
    const [, kid = '', encoded = ''] = ENCRYPTION_KEY.exec(entry.trim()) ?? [];
    return kid === '' ? [] : [{ kid, key: new Uint8Array(Buffer.from(encoded, 'base64')) }];
  });
  if (new Set(keys.map(({ kid }) => kid)).size === text.split(',').length) return keys;
  context.addIssue({
    code: 'custom',
    message: 'must be a comma-separated list of <id>:<32 bytes in base64> with unique ids',
  });
  return z.NEVER;
});

/** `<value>=<role>`, comma-separated: the role for each value of the role claim. */
const roleMap = z.string().transform((text, context) => {
  const pairs = text.split(',').map((pair) => pair.trim().split('='));
  const role = z.enum(fleetRoles);
  if (pairs.every(([value = '', name, ...rest]) => value !== '' && rest.length === 0 && role.safeParse(name).success)) {
    return Object.fromEntries(pairs.map(([value, name]) => [value, role.parse(name)]));
  }
  context.addIssue({
    code: 'custom',
    message: `must be a comma-separated list of <value>=<role>; roles: ${fleetRoles.join(', ')}`,
  });
  return z.NEVER;
});

const MIN_MEMORY_LIMIT = 64 * 2 ** 20;
const MIN_PROCESS_LIMIT = 64;

/** A Kubernetes quantity in bytes; 0: no limit. */
const memoryLimit = quantity
  .refine((text) => {
    const amount = bytes(text);
    return amount === 0 || (amount >= MIN_MEMORY_LIMIT && amount < Number.MAX_SAFE_INTEGER);
  }, 'must be a Kubernetes quantity of at least 64Mi such as 2Gi, or 0 for no limit')
  .transform((text) => bytes(text) || null);

const processLimit = numberSetting(0, 4_194_304)
  .refine(
    (limit) => limit === 0 || limit >= MIN_PROCESS_LIMIT,
    `must be at least ${MIN_PROCESS_LIMIT}, or 0 for no limit`,
  )
  .transform((limit) => limit || null);

/** The environment variables of the service. */
export const schema = z
  .object({
    ...common,
    ENCRYPTION_KEYS: secretSetting(encryptionKeys),
    SVC_TEMP_ADMIN_USERNAME: z.string().optional(),
    SVC_TEMP_ADMIN_PASSWORD: secretSetting(z.string().optional()),
    HUB_URL: urlSetting.optional(),
    HUB_API_KEY: secretSetting(
      z
        .string()
        .regex(/^svcc_/, 'must be an API key of the hub (svcc_...)')
        .optional(),
    ),
    HUB_SYNC_INTERVAL: numberSetting(0, 86_400).optional(),
    OIDC_ISSUER: addressSetting.optional(),
    OIDC_CLIENT_ID: z.string().optional(),
    OIDC_CLIENT_SECRET: secretSetting(z.string().optional()),
    OIDC_AUDIENCE: z.string().optional(),
    OIDC_ROLE_CLAIM: z.string().optional(),
    OIDC_ROLE_MAP: roleMap.optional(),
    OIDC_DEFAULT_ROLE: z.enum(['viewer', 'none']).optional(),
    OIDC_ALLOW_USERINFO: booleanSetting(false).optional(),
    OUTBOUND_ALLOW: outboundSetting,
    DEFAULT_MEMORY_LIMIT: memoryLimit.prefault('2Gi'),
    DEFAULT_PROCESS_LIMIT: processLimit.prefault('4096'),
    RECONCILER_CONCURRENCY: numberSetting(1, 256).prefault('16'),
    AUDIT_RETENTION_DAYS: numberSetting(1, 36_500).optional(),
  })
  .check(
    pair('SVC_TEMP_ADMIN_USERNAME', 'SVC_TEMP_ADMIN_PASSWORD'),
    pair('HUB_URL', 'HUB_API_KEY'),
    pair('OIDC_ISSUER', 'OIDC_CLIENT_ID'),
  );

export type Config = z.output<typeof schema>;

/** The whole configuration of the service. @throws SettingsError */
export const readConfig = (environment: NodeJS.ProcessEnv): Config => readSettings(schema, environment);

/** The environment's values for the settings that can also be set through the API. */
export const settingsEnvironmentOf = (config: Config): SettingsEnvironment => ({
  oidc: {
    issuer: config.OIDC_ISSUER,
    client_id: config.OIDC_CLIENT_ID,
    client_secret: config.OIDC_CLIENT_SECRET,
    audience: config.OIDC_AUDIENCE,
    role_claim: config.OIDC_ROLE_CLAIM,
    role_map: config.OIDC_ROLE_MAP,
    default_role: config.OIDC_DEFAULT_ROLE,
    allow_userinfo: config.OIDC_ALLOW_USERINFO,
  },
  hub: { url: config.HUB_URL, api_key: config.HUB_API_KEY, sync_interval: config.HUB_SYNC_INTERVAL },
});

/** The configuration of commands that need only the database. @throws SettingsError */
export const readDatabaseSettings = (environment: NodeJS.ProcessEnv): z.output<typeof databaseSettings> =>
  readSettings(databaseSettings, environment);

/** The configuration of commands that encrypt. @throws SettingsError */
export const readKeySettings = (environment: NodeJS.ProcessEnv): z.output<typeof keySettings> =>
  readSettings(keySettings, environment);

const keySettings = databaseSettings.extend({ ENCRYPTION_KEYS: secretSetting(encryptionKeys) });

/** Checks that two variables are set together or not at all, even if other variables are invalid. */
function pair(one: string, other: string): z.core.$ZodCheck<object> {
  return z.superRefine<object>(
    (settings, context) => {
      const [missing, ...more] = [one, other].filter((name) => !Object.hasOwn(settings, name));
      if (missing === undefined || more.length > 0) return;
      const message = `is required: ${one} and ${other} must be set together`;
      context.addIssue({ code: 'custom', path: [missing], message });
    },
    { when: () => true },
  );
}
