import { quantity } from '@svc/contract';
import { fleetRoles } from '@svc/contract/fleet';
import { describedKeys, encryptionKeys } from '@svc/database';
import { auditDeliveryRules, auditDeliverySettings } from '@svc/delivery';
import {
  addressSetting,
  booleanSetting,
  commonSettings,
  databaseSettings,
  maxTokenHoursSetting,
  numberSetting,
  outboundSetting,
  type ReadSettings,
  readSettings,
  readSettingsAndFiles,
  requireTogether,
  secretSetting,
  urlSetting,
} from '@svc/http';
import { z } from 'zod';
import { revealSettings } from './identity/policy.ts';
import { bytes } from './placement/quantities.ts';
import {
  DEFAULT_NETWORK_POOL,
  isPool,
  MAX_POOL_PREFIX,
  MIN_POOL_PREFIX,
  parseSubnet,
  subnetText,
} from './placement/subnets.ts';
import type { SettingsEnvironment } from './settings/settings.ts';
import { hubDefaults, oidcDefaults } from './settings/values.ts';

const common = commonSettings({ port: '4200' });

const encryptionKeysSetting = secretSetting(encryptionKeys.describe(describedKeys('secrets')));

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
const MAX_PROCESS_LIMIT = 4_194_304;

function isMemoryLimit(text: string): boolean {
  if (!quantity.safeParse(text).success) return false;
  const amount = bytes(text);
  return amount === 0 || (amount >= MIN_MEMORY_LIMIT && amount < Number.MAX_SAFE_INTEGER);
}

/** A Kubernetes quantity in bytes; 0: no limit. */
const memoryLimit = z
  .string()
  .refine(isMemoryLimit, 'must be a Kubernetes quantity of at least 64Mi such as 2Gi, or 0 for no limit')
  .transform((text) => bytes(text) || null);

const PROCESS_LIMIT = `must be an integer from ${MIN_PROCESS_LIMIT} to ${MAX_PROCESS_LIMIT}, or 0 for no limit`;

const processLimit = z
  .string()
  .regex(/^\d{1,9}$/, PROCESS_LIMIT)
  .transform(Number)
  .refine((limit) => limit === 0 || (limit >= MIN_PROCESS_LIMIT && limit <= MAX_PROCESS_LIMIT), PROCESS_LIMIT)
  .transform((limit) => limit || null);

const NETWORK_POOL = `must be a private IPv4 network such as ${subnetText(DEFAULT_NETWORK_POOL)}, with a prefix from ${MIN_POOL_PREFIX} to ${MAX_POOL_PREFIX}`;

const networkPool = z.string().transform((text, context) => {
  const subnet = parseSubnet(text);
  if (subnet && isPool(subnet)) return subnet;
  context.addIssue({ code: 'custom', message: NETWORK_POOL });
  return z.NEVER;
});

/**
 * The environment variables of the service. `default` is the value in effect if neither the
 * variable nor the API sets one.
 */
export const schema = z
  .object({
    ...common,
    ...auditDeliverySettings,
    ENCRYPTION_KEYS: encryptionKeysSetting,
    SVC_TEMP_ADMIN_USERNAME: z
      .string()
      .optional()
      .describe(
        'the name of the temporary admin, which exists while this variable and `SVC_TEMP_ADMIN_PASSWORD` are set',
      ),
    SVC_TEMP_ADMIN_PASSWORD: secretSetting(
      z
        .string()
        .optional()
        .describe('the password of the temporary admin. It must satisfy the [password policy](sign-in.md#local-users)'),
    ),
    HUB_URL: urlSetting.optional().describe('the hub to mirror. Set it together with `HUB_API_KEY`'),
    HUB_API_KEY: secretSetting(
      z
        .string()
        .regex(/^svcc_/, 'must be an API key of the hub (svcc_...)')
        .optional()
        .describe('an API key of the organization'),
    ),
    HUB_SYNC_INTERVAL: numberSetting(0, 86_400)
      .optional()
      .meta({ description: 'seconds between syncs; 0: only on demand', default: hubDefaults.sync_interval }),
    OIDC_ISSUER: addressSetting
      .optional()
      .describe("the identity provider of the fleet's users. Set it together with `OIDC_CLIENT_ID`"),
    OIDC_CLIENT_ID: z.string().optional().describe('the client that is registered at the identity provider'),
    OIDC_CLIENT_SECRET: secretSetting(z.string().optional().describe('the secret of the client, if it has one')),
    OIDC_AUDIENCE: z
      .string()
      .optional()
      .describe(
        'the audience of access tokens of the provider that the fleet accepts directly. If not set, it accepts none. Use the audience of the API, never a client id',
      ),
    OIDC_MAX_TOKEN_HOURS: maxTokenHoursSetting,
    OIDC_ROLE_CLAIM: z.string().optional().meta({
      description: 'the claim that contains the role. Dots select nested claims',
      default: oidcDefaults.role_claim,
    }),
    OIDC_ROLE_MAP: roleMap
      .optional()
      .describe('the role for each value of the claim. If not set, the value of the claim is the role'),
    OIDC_DEFAULT_ROLE: z.enum(['viewer', 'none']).optional().meta({
      description: 'the role of users for whom the claim gives none',
      default: oidcDefaults.default_role,
    }),
    OIDC_ALLOW_USERINFO: booleanSetting.optional().meta({
      description: 'whether userinfo may verify an opaque access token',
      default: oidcDefaults.allow_userinfo,
    }),
    OUTBOUND_ALLOW: outboundSetting.describe(
      'which addresses other than public `https` addresses can be set through the API',
    ),
    DEFAULT_MEMORY_LIMIT: memoryLimit
      .prefault('2Gi')
      .describe(
        'memory limit of containers whose workload has neither `memory_request` nor `memory_limit`. See [defaults](deployments.md#defaults)',
      ),
    DEFAULT_PROCESS_LIMIT: processLimit
      .prefault('4096')
      .describe('maximum number of processes and threads of each container on a host'),
    NETWORK_POOL: networkPool
      .prefault(subnetText(DEFAULT_NETWORK_POOL))
      .describe(
        'the addresses of the [isolated networks](deployments.md#isolated-networks) on hosts: a /20 for all deployments without an application, and a /26 or more for each application. Another value applies to new networks',
      ),
    REVEAL_VALUES: z
      .enum(revealSettings)
      .default('admins-and-operators')
      .describe(
        'who can [reveal values](deployments.md#generated-values) that the fleet generated. `off`: nobody; the response that generates a value still contains it once',
      ),
    RECONCILER_CONCURRENCY: numberSetting(1, 256)
      .prefault('16')
      .describe(
        'the maximum number of deployments that a process reconciles at the same time. A deployment whose host or cluster takes longer than 0.3 seconds does not count, so that slow targets do not delay others',
      ),
    UPDATE_CONCURRENCY: numberSetting(1, 50)
      .prefault('2')
      .describe(
        'the maximum number of [automatic updates](deployments.md#automatic-updates) whose rollouts are in progress at the same time, of all replicas',
      ),
  })
  .check(
    requireTogether('SVC_TEMP_ADMIN_USERNAME', 'SVC_TEMP_ADMIN_PASSWORD'),
    requireTogether('HUB_URL', 'HUB_API_KEY'),
    requireTogether('OIDC_ISSUER', 'OIDC_CLIENT_ID'),
    ...auditDeliveryRules,
  );

export type Config = z.output<typeof schema>;

/** The whole configuration of the service. @throws SettingsError */
export const readConfig = (environment: NodeJS.ProcessEnv): Config => readSettings(schema, environment);

/** The whole configuration with the contents of its files. @throws SettingsError */
export const readConfigAndFiles = (environment: NodeJS.ProcessEnv): ReadSettings<Config> =>
  readSettingsAndFiles(schema, environment);

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

const keySettings = databaseSettings.extend({ ENCRYPTION_KEYS: encryptionKeysSetting });
