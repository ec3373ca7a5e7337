import { describedKeys, encryptionKeys } from '@svc/database';
import { auditDeliveryRules, auditDeliverySettings } from '@svc/delivery';
import {
  addressSetting,
  commonSettings,
  databaseSettings,
  listSetting,
  maxTokenHoursSetting,
  numberSetting,
  outboundSetting,
  type ReadSettings,
  readSettings,
  readSettingsAndFiles,
  secretSetting,
} from '@svc/http';
import { z } from 'zod';

const encryptionKeysSetting = secretSetting(
  encryptionKeys
    .optional()
    .describe(
      `${describedKeys('the signing secrets of [webhooks](webhooks.md)')}. If not set, no webhook can be created`,
    ),
);

const settings = z.object({
  ...commonSettings({ port: '4100' }),
  ...auditDeliverySettings,
  OIDC_ISSUER: addressSetting.describe(
    "the identity provider of the hub's users, exactly as in the `iss` claim of its tokens",
  ),
  OIDC_AUDIENCE: z
    .string()
    .min(1)
    .describe(
      'the audience that an access token must have. Use the audience of the API, never a client id: ID tokens have the client id as their audience and would be accepted',
    ),
  OIDC_CLIENT_ID: z
    .string()
    .optional()
    .describe(
      'the client of the hub at the provider, for [sign-ins to its console](hub-administration.md#console). Its redirect URI is `<PUBLIC_URL>/api/v1/auth/oidc/callback`',
    ),
  OIDC_CLIENT_SECRET: secretSetting(z.string().optional().describe('the secret of the client, if it has one')),
  OIDC_MAX_TOKEN_HOURS: maxTokenHoursSetting,
  SUPERADMIN_EMAILS: listSetting
    .transform((emails) => emails.map((email) => email.toLowerCase()))
    .describe('users with one of these verified e-mail addresses are superadmins until someone sets their role'),
  SUPERADMIN_SUBJECTS: listSetting.describe('the same by the `sub` claim, for tokens without an e-mail'),
  ENCRYPTION_KEYS: encryptionKeysSetting,
  OUTBOUND_ALLOW: outboundSetting.describe(
    'which addresses other than public `https` addresses [webhooks](webhooks.md) can have',
  ),
  CATALOG_HISTORY_DAYS: numberSetting(1, 36_500)
    .prefault('90')
    .describe(
      'days for which the hub keeps the history of visibility, and the revisions of deleted templates. A client that does not sync for longer receives the whole catalog again',
    ),
});

/** The environment variables of the service. */
export const schema = settings.check(...auditDeliveryRules);

export type Config = z.output<typeof schema>;

/** The configuration of the service. @throws SettingsError */
export const readConfig = (environment: NodeJS.ProcessEnv): Config => readSettings(schema, environment);

/** The configuration with the contents of its files. @throws SettingsError */
export const readConfigAndFiles = (environment: NodeJS.ProcessEnv): ReadSettings<Config> =>
  readSettingsAndFiles(schema, environment);

/** The configuration of a command that needs only the database. @throws SettingsError */
export const readDatabaseSettings = (environment: NodeJS.ProcessEnv): z.output<typeof databaseSettings> =>
  readSettings(databaseSettings, environment);

/** The configuration of commands that encrypt. @throws SettingsError */
export const readKeySettings = (environment: NodeJS.ProcessEnv): z.output<typeof keySettings> =>
  readSettings(keySettings, environment);

const keySettings = databaseSettings.extend({ ENCRYPTION_KEYS: secretSetting(encryptionKeys) });
