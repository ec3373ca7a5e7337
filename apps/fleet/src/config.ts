import { commonSettings, numberSetting, readSettings, urlSetting } from '@svc/http';
import { z } from 'zod';

const common = commonSettings({ port: '4200' });

const KEY_BYTES = 32;

/** `kid:base64-32-bytes`, comma-separated; the first encrypts. */
const encryptionKeys = z.string().transform((text, context) => {
  const keys = text.split(',').map((entry) => {
    const [kid = '', encoded = ''] = entry.trim().split(':');
    return { kid, key: new Uint8Array(Buffer.from(encoded, 'base64')) };
  });
  const good = keys.every(({ kid, key }) => /^[A-Za-z0-9_-]{1,32}$/.test(kid) && key.length === KEY_BYTES);
  if (good && new Set(keys.map(({ kid }) => kid)).size === keys.length) return keys;
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
  .check(pairs('SVC_TEMP_ADMIN_USERNAME', 'SVC_TEMP_ADMIN_PASSWORD'), pairs('HUB_URL', 'HUB_API_KEY'));

export type Config = z.output<typeof schema>;

/** The whole configuration of the service. @throws SettingsError */
export const readConfig = (environment: NodeJS.ProcessEnv): Config => readSettings(schema, environment);

/** What a command that only needs the database reads. @throws SettingsError */
export const readDatabaseUrl = (environment: NodeJS.ProcessEnv): string =>
  readSettings(z.object({ DATABASE_URL: common.DATABASE_URL }), environment).DATABASE_URL;

/** Two settings that come together or not at all. */
function pairs(one: string, other: string): z.core.CheckFn<object> {
  return ({ value, issues }) => {
    const settings: Record<string, unknown> = { ...value };
    if ((settings[one] === undefined) === (settings[other] === undefined)) return;
    const missing = settings[one] === undefined ? one : other;
    issues.push({
      code: 'custom',
      input: value,
      path: [missing],
      message: `is required: ${one} and ${other} come together`,
    });
  };
}
