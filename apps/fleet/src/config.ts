import { commonSettings, numberSetting, readSettings, urlSetting } from '@svc/http';
import { z } from 'zod';

const common = commonSettings({ port: '4200' });

/** An id, and 32 bytes in base64. */
const ENCRYPTION_KEY = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** `kid:base64-32-bytes`, comma-separated; the first encrypts. */
const encryptionKeys = z.string().transform((text, context) => {
  const keys = text.split(',').flatMap((entry) => {
    const [, kid = '', encoded = ''] = ENCRYPTION_KEY.exec(entry.trim()) ?? [];
    return kid === '' ? [] : [{ kid, key: new Uint8Array(Buffer.from(encoded, 'base64')) }];
  });
  if (new Set(keys.map(({ kid }) => kid)).size === text.split(',').length) return keys;
  context.addIssue({ code: 'custom', message: 'must be <id>:<32 bytes in base64>, comma-separated, each id once' });
  return z.NEVER;
});

const schema = z
  .object({
    ...common,
    ENCRYPTION_KEYS: encryptionKeys,
    SVC_TEMP_ADMIN_USERNAME: z.string().optional(),
    SVC_TEMP_ADMIN_PASSWORD: z.string().optional(),
    HUB_URL: urlSetting.optional(),
    HUB_API_KEY: z
      .string()
      .regex(/^svcc_/, 'must be an API key of the hub (svcc_...)')
      .optional(),
    HUB_SYNC_INTERVAL: numberSetting(0, 86_400).prefault('300'),
  })
  .check(pair('SVC_TEMP_ADMIN_USERNAME', 'SVC_TEMP_ADMIN_PASSWORD'), pair('HUB_URL', 'HUB_API_KEY'));

export type Config = z.output<typeof schema>;

/** The whole configuration of the service. @throws SettingsError */
export const readConfig = (environment: NodeJS.ProcessEnv): Config => readSettings(schema, environment);

/** What a command that only needs the database reads. @throws SettingsError */
export const readDatabaseUrl = (environment: NodeJS.ProcessEnv): string =>
  readSettings(z.object({ DATABASE_URL: common.DATABASE_URL }), environment).DATABASE_URL;

/** Two settings that come together or not at all; looked at whatever else is wrong. */
function pair(one: string, other: string): z.core.$ZodCheck<object> {
  return z.superRefine<object>(
    (settings, context) => {
      const [missing, ...more] = [one, other].filter((name) => !Object.hasOwn(settings, name));
      if (missing === undefined || more.length > 0) return;
      const message = `is required: ${one} and ${other} come together`;
      context.addIssue({ code: 'custom', path: [missing], message });
    },
    { when: () => true },
  );
}
