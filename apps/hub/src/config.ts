import { addressSetting, commonSettings, databaseSettings, listSetting, numberSetting, readSettings } from '@svc/http';
import { z } from 'zod';

/** The environment variables of the service. */
export const schema = z.object({
  ...commonSettings({ port: '4100' }),
  OIDC_ISSUER: addressSetting,
  OIDC_AUDIENCE: z.string().min(1),
  SUPERADMIN_EMAILS: listSetting.transform((emails) => emails.map((email) => email.toLowerCase())),
  SUPERADMIN_SUBJECTS: listSetting,
  CATALOG_HISTORY_DAYS: numberSetting(1, 36_500).prefault('90'),
  AUDIT_RETENTION_DAYS: numberSetting(1, 36_500).optional(),
});

export type Config = z.output<typeof schema>;

/** The configuration of the service. @throws SettingsError */
export const readConfig = (environment: NodeJS.ProcessEnv): Config => readSettings(schema, environment);

/** The configuration of a command that needs only the database. @throws SettingsError */
export const readDatabaseSettings = (environment: NodeJS.ProcessEnv): z.output<typeof databaseSettings> =>
  readSettings(databaseSettings, environment);
