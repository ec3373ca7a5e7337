import { z } from 'zod';
import { logLevels } from './log.ts';
import { type OutboundAllowance, outboundAllowances } from './outbound.ts';

/** What stops a start: a list of everything that is wrong with the environment. */
export class SettingsError extends Error {
  override name = 'SettingsError';
  constructor(complaints: readonly string[]) {
    super(['The configuration is not usable:', ...complaints.map((complaint) => `  ${complaint}`)].join('\n'));
  }
}

/** A comma-separated list. */
export const listSetting = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  );

/** `on` or `off`. */
export const switchSetting = (preset: 'on' | 'off') =>
  z
    .enum(['on', 'off'])
    .default(preset)
    .transform((value) => value === 'on');

/** `true` or `false`. */
export const booleanSetting = (preset: boolean) =>
  z
    .enum(['true', 'false'])
    .default(preset ? 'true' : 'false')
    .transform((value) => value === 'true');

/** An http or https URL, kept to the letter: an issuer is compared exactly. */
export const addressSetting = z
  .string()
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), 'must be an http or https URL')
  .refine((value) => !URL.canParse(value) || !hasPassword(new URL(value)), 'must not hold a user or a password')
  .refine((value) => !/[?#]/.test(value), 'must not have a query or a fragment');

/** An http or https URL without a trailing slash, for paths to be added to. */
export const urlSetting = addressSetting.transform((value) => value.replace(/\/+$/, ''));

const hasPassword = ({ username, password }: URL) => username !== '' || password !== '';

/** A whole number within bounds. */
export const numberSetting = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** `OUTBOUND_ALLOW`: what targets that are set through an API may be beside `https` and public. */
export const outboundSetting = listSetting.transform((words, context) => {
  const unknown = words.filter((word) => !isAllowance(word));
  if (unknown.length === 0) return new Set(words.filter(isAllowance));
  const message = `does not know ${unknown.join(', ')}; it is a comma-separated list of ${outboundAllowances.join(', ')}`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const isAllowance = (word: string): word is OutboundAllowance => outboundAllowances.some((known) => known === word);

const databaseUrl = z
  .string()
  .refine((value) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value), 'must be a postgresql:// URL');

/** Settings that every service has. */
export const commonSettings = (presets: { readonly port: string }) => ({
  PORT: numberSetting(0, 65_535).prefault(presets.port),
  HOST: z.string().min(1).default('127.0.0.1'),
  DATABASE_URL: databaseUrl,
  LOG_LEVEL: z.enum(logLevels).default('info'),
  RATE_LIMIT: switchSetting('on'),
  PUBLIC_URL: urlSetting.optional(),
  CORS_ORIGINS: listSetting.refine(
    (origins) => origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
    'must be a list of origins such as https://console.example.com',
  ),
  TRUST_PROXY: listSetting,
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').optional(),
  MIGRATE_ON_START: booleanSetting(true),
});

const common = z.object(commonSettings({ port: '0' }));

/** What of the common settings decides how a service answers. */
export const serviceOptionsOf = (config: z.output<typeof common>) => ({
  rateLimit: config.RATE_LIMIT,
  corsOrigins: config.CORS_ORIGINS,
  trustProxy: config.TRUST_PROXY,
  metricsToken: config.METRICS_TOKEN,
  publicUrl: config.PUBLIC_URL,
});

/** Reads the environment once, by a schema. An empty value is no value. @throws SettingsError with all that is wrong. */
export function readSettings<T extends z.ZodType>(schema: T, environment: NodeJS.ProcessEnv): z.output<T> {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(given, { error: (issue) => (issue.input === undefined ? 'is required' : undefined) });
  if (result.success) return result.data;
  throw new SettingsError(result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
}
