import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { parseFields } from '@svc/contract';
import { z } from 'zod';
import { logLevels } from '../observe/log.ts';
import { type OutboundAllowance, outboundAllowances } from '../outbound/outbound.ts';
import { isProxyExemption } from '../outbound/proxy.ts';
import { fileProblem, withSecretFiles } from './secret-files.ts';

/** The environment is invalid. The message lists all errors. */
export class SettingsError extends Error {
  override name = 'SettingsError';
  /** One per variable: `PORT: must be ...`. */
  readonly errors: readonly string[];
  constructor(errors: readonly string[]) {
    super(['Invalid configuration:', ...errors.map((error) => `  ${error}`)].join('\n'));
    this.errors = errors;
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
export const switchSetting = (defaultValue: 'on' | 'off') =>
  z
    .enum(['on', 'off'])
    .default(defaultValue)
    .transform((value) => value === 'on');

/** `true` or `false`. */
export const booleanSetting = z.enum(['true', 'false']).transform((value) => value === 'true');

/** An http or https URL. It is not normalized, because issuers are compared exactly. */
export const addressSetting = z
  .string()
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), 'must be an http or https URL')
  .refine((value) => !URL.canParse(value) || !hasPassword(new URL(value)), 'must not contain a user or a password')
  .refine((value) => !/[?#]/.test(value), 'must not have a query or a fragment');

/** An http or https URL to which paths are appended. Trailing slashes are removed. */
export const urlSetting = addressSetting.transform((value) => value.replace(/(?<!\/)\/+$/, ''));

const hasPassword = ({ username, password }: URL) => username !== '' || password !== '';

/** An integer within bounds. */
export const numberSetting = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be an integer from ${min} to ${max}`);

/** `OIDC_MAX_TOKEN_HOURS`, in hours. */
export const maxTokenHoursSetting = numberSetting(1, 720)
  .prefault('24')
  .describe(
    'the longest time until the expiry of an access token of the provider, in hours. A token that is valid for longer is a 401. A user who is removed at the provider can use a token until it expires',
  );

/**
 * `OUTBOUND_ALLOW`: what is allowed for targets that are set in the API, in addition to `https` at
 * public addresses.
 */
export const outboundSetting = listSetting.transform((words, context) => {
  const unknown = words.filter((word) => !isAllowance(word));
  if (unknown.length === 0) return new Set(words.filter(isAllowance));
  const message = `must be a comma-separated list of ${outboundAllowances.join(', ')}; unknown: ${unknown.join(', ')}`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const isAllowance = (word: string): word is OutboundAllowance => outboundAllowances.some((known) => known === word);

/** Names of address ranges that Express defines. */
const PROXY_RANGES = ['loopback', 'linklocal', 'uniquelocal'];

/**
 * `TRUST_PROXY`: Express would read a number, which it allows as a count of proxies, as an address.
 */
const proxiesSetting = listSetting.transform((entries, context) => {
  const invalid = entries.filter((entry) => !isProxy(entry));
  if (invalid.length === 0) return entries;
  const allowed = `IP addresses, ranges such as 10.0.0.0/8, ${PROXY_RANGES.join(', ')}`;
  const message = `must be a comma-separated list of ${allowed}; invalid: ${invalid.join(', ')}`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

function isProxy(entry: string): boolean {
  if (PROXY_RANGES.includes(entry)) return true;
  const [address = '', prefix, ...rest] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

const secrets = new WeakSet<z.core.$ZodType>();

/** A setting whose value is a secret: `NAME_FILE` can name a file with the value of `NAME`. */
export function secretSetting<T extends z.ZodType>(setting: T): T {
  secrets.add(setting);
  return setting;
}

/** The settings that `NAME_FILE` can set. */
export const secretNamesOf = (schema: z.ZodObject): string[] =>
  Object.entries(schema.shape).flatMap(([name, setting]) => (secrets.has(setting) ? [name] : []));

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** The certificates in a text in PEM format. */
export const certificatesIn = (text: string): readonly string[] => text.match(CERTIFICATE) ?? [];

/** What is wrong with certificates in PEM format, as the end of a sentence about them, or undefined. */
export function certificatesProblem(text: string): string | undefined {
  const certificates = certificatesIn(text);
  try {
    for (const certificate of certificates) new X509Certificate(certificate);
    return certificates.length > 0 ? undefined : 'contains no certificate';
  } catch {
    return 'contains an invalid certificate';
  }
}

function certificateFileProblem(file: string): string | undefined {
  try {
    return certificatesProblem(readFileSync(file, 'utf8'));
  } catch (error) {
    return fileProblem(error);
  }
}

/** `NODE_EXTRA_CA_CERTS`: Node ignores a file that it cannot read. */
const certificatesSetting = z.string().superRefine((file, context) => {
  const problem = certificateFileProblem(file);
  if (problem === undefined) return;
  const message = `must be the path of a file with certificates in PEM format; invalid: ${file} ${problem}`;
  context.addIssue({ code: 'custom', message });
});

const proxySetting = z
  .string()
  .refine(
    (value) => URL.canParse(value) && /^https?:\/\/[^/?#]+\/?$/.test(value),
    'must be an http or https URL without a path, such as http://proxy.example.com:3128',
  );

/** `NO_PROXY`: the entries are checked, and used as they are. */
const proxyExemptions = z.string().superRefine((text, context) => {
  const entries = text.split(',').map((entry) => entry.trim());
  const invalid = entries.filter((entry) => entry !== '' && !isProxyExemption(entry));
  if (invalid.length === 0) return;
  const message = `must be a comma-separated list of names, domains such as .example.com, IP addresses, ranges such as 10.0.0.0/8, or *; invalid: ${invalid.join(', ')}`;
  context.addIssue({ code: 'custom', message });
});

const DATABASE_FILES = ['sslrootcert', 'sslcert', 'sslkey'];

const databaseUrl = z
  .string()
  .refine((value) => /^postgres(ql)?:\/\//.test(value) && URL.canParse(value), 'must be a postgresql:// URL')
  .superRefine((value, context) => {
    for (const [name, file] of namedInUrl(value)) {
      const problem = readabilityProblem(file);
      if (problem !== undefined)
        context.addIssue({
          code: 'custom',
          message: `must name a readable file in ${name}; invalid: ${file} ${problem}`,
        });
    }
  });

/** The parameters of the URL of a database that name files, with these files. */
function namedInUrl(url: string): (readonly [name: string, file: string])[] {
  if (!URL.canParse(url)) return [];
  const { searchParams } = new URL(url);
  return DATABASE_FILES.flatMap((name) => {
    const file = searchParams.get(name);
    return file ? [[name, file] as const] : [];
  });
}

function readabilityProblem(file: string): string | undefined {
  try {
    readFileSync(file);
    return undefined;
  } catch (error) {
    return fileProblem(error);
  }
}

/** The URLs of the database contain passwords. */
const databaseUrls = {
  DATABASE_URL: secretSetting(
    databaseUrl.describe(
      'the database, `postgresql://user:password@host/database`, on PostgreSQL 15 or later. The user must own the database, unless `MIGRATION_DATABASE_URL` is set. `?connect_timeout=5` waits up to 5 seconds for a connection, instead of 1; `statement_timeout=10000` permits statements of 10 seconds, instead of 2.5, and transactions of twice that. `?sslmode=verify-full` requires TLS ([private networks](#private-networks))',
    ),
  ),
  MIGRATION_DATABASE_URL: secretSetting(
    databaseUrl
      .optional()
      .describe(
        'the same database with the role that owns it. It is used only for migrations ([database roles](#database-roles))',
      ),
  ),
};

const migrateOnStart = booleanSetting
  .prefault('true')
  .describe(
    '`false`: only `node dist/main.js migrate` migrates the database. Several replicas can start at the same time in both cases',
  );

const auditRetention = numberSetting(1, 36_500)
  .optional()
  .describe(
    'days after which audit entries are deleted; if not set, they are kept. The deletion leaves an entry of its own',
  );

/** The settings of both services. Their descriptions are the meanings in docs/configuration.md. */
export const commonSettings = (defaults: { readonly port: string }) => ({
  ...databaseUrls,
  DATABASE_CONNECTIONS: numberSetting(6, 1000)
    .prefault('16')
    .describe(
      'the maximum number of database connections of a process. Some of them are reserved: in the hub two for catalog writes (one if there are fewer than eight), one for [streamed responses](sync.md#large-responses) and one for the [check of the revision](performance.md#how-reads-work), in the fleet two for the mirror, one for the search for due deployments and one for notifications',
    ),
  PORT: numberSetting(0, 65_535).prefault(defaults.port).describe('the port to listen on'),
  HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('the address to listen on. The container images set it to `0.0.0.0`'),
  LOG_LEVEL: z
    .enum(logLevels)
    .default('info')
    .describe('the lowest level of lines in the [log](#log), which consists of JSON lines on stdout'),
  MIGRATE_ON_START: migrateOnStart,
  RATE_LIMIT: switchSetting('on').describe(
    'limits each session, API key of the hub, or client address without one, to `REQUESTS_PER_MINUTE` ([rate limit](#rate-limit)). `off` does not disable the throttling of failed sign-ins',
  ),
  REQUESTS_PER_MINUTE: numberSetting(60, 100_000_000)
    .prefault('6000')
    .describe('the rate limit, in requests per minute and replica'),
  PUBLIC_URL: urlSetting
    .optional()
    .describe('the URL at which callers reach the service. Sign-ins in a browser require it, with https or localhost'),
  CORS_ORIGINS: listSetting
    .refine(
      (origins) => origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
      'must be a comma-separated list of origins such as https://console.example.com',
    )
    .describe(
      'exact origins from which browsers may call the service. The [MCP endpoint](mcp.md) rejects web pages of other origins',
    ),
  TRUST_PROXY: proxiesSetting.describe(
    'proxies whose `X-Forwarded-For` is trusted. Behind a proxy, limits per client address need it',
  ),
  METRICS_TOKEN: secretSetting(
    z
      .string()
      .min(16, 'must have at least 16 characters')
      .optional()
      .describe('the bearer token that `/metrics` requires. If not set, `/metrics` requires none'),
  ),
  AUDIT_RETENTION_DAYS: auditRetention,
  HTTPS_PROXY: proxySetting
    .optional()
    .describe(
      'the proxy for outbound requests with `https`, which can contain a user and a password ([private networks](#private-networks))',
    ),
  NO_PROXY: proxyExemptions
    .optional()
    .describe('targets to which the service connects without the proxy. A name contains the names below it'),
  NODE_EXTRA_CA_CERTS: certificatesSetting
    .optional()
    .describe(
      'a file with certificate authorities that the service trusts in addition to the public ones, for outbound requests and for the database',
    ),
});

/** The settings of commands that need only the database. */
export const databaseSettings = z.object({
  ...databaseUrls,
  MIGRATE_ON_START: migrateOnStart,
  AUDIT_RETENTION_DAYS: auditRetention,
});

/** What the preparation of the database depends on. */
export const preparationOf = (config: z.output<typeof databaseSettings>) => ({
  databaseUrl: config.DATABASE_URL,
  ownerUrl: config.MIGRATION_DATABASE_URL,
  auditRetentionDays: config.AUDIT_RETENTION_DAYS,
  migrates: config.MIGRATE_ON_START,
});

const common = z.object(commonSettings({ port: '0' }));

/**
 * The options of `createService` from the common settings.
 * @param inEffect the settings in effect, of which secrets can change
 */
export const serviceOptionsOf = (inEffect: () => z.output<typeof common>) => {
  const config = inEffect();
  return {
    rateLimit: config.RATE_LIMIT,
    requestsPerMinute: config.REQUESTS_PER_MINUTE,
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
    metricsToken: () => inEffect().METRICS_TOKEN,
    publicUrl: config.PUBLIC_URL,
  };
};

/**
 * Parses the environment, and the files of its secrets. Empty values count as not set. @throws
 * SettingsError with all errors
 */
export const readSettings = <T extends z.ZodObject>(schema: T, environment: NodeJS.ProcessEnv): z.output<T> =>
  parseSettings(schema, environment).settings;

function parseSettings<T extends z.ZodObject>(schema: T, environment: NodeJS.ProcessEnv) {
  const read = withSecretFiles(secretNamesOf(schema), environment);
  const given = Object.fromEntries(
    Object.entries(read.environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = parseFields(schema, given);
  if (result.success && read.errors.size === 0) return { settings: result.data, given };
  const invalid = result.success ? [] : result.errors.filter(({ path }) => !read.errors.has(path));
  throw new SettingsError([...read.errors.values(), ...invalid.map(({ path, message }) => `${path}: ${message}`)]);
}

/** Settings, and the contents of the files that they name. */
export interface ReadSettings<C> {
  readonly settings: C;
  /** By the name of the setting. They can be secrets. */
  readonly files: ReadonlyMap<string, string>;
}

/** The settings of a service, and the contents of their files. @throws SettingsError with all errors */
export function readSettingsAndFiles<T extends z.ZodObject>(
  schema: T,
  environment: NodeJS.ProcessEnv,
): ReadSettings<z.output<T>> {
  const { settings, given } = parseSettings(schema, environment);
  const { NODE_EXTRA_CA_CERTS, DATABASE_URL = '' } = given;
  const secretsInFiles = secretNamesOf(schema).filter((name) => environment[`${name}_FILE`]);
  const files = new Map(secretsInFiles.flatMap((name) => (given[name] ? [[name, given[name]] as const] : [])));
  // The schema has checked that these files can be read.
  const contents = namedInUrl(DATABASE_URL).map(([, file]) => readFileSync(file, 'utf8'));
  if (contents.length > 0) files.set('DATABASE_URL', [DATABASE_URL, ...contents].join('\n'));
  if (NODE_EXTRA_CA_CERTS) files.set('NODE_EXTRA_CA_CERTS', readFileSync(NODE_EXTRA_CA_CERTS, 'utf8'));
  return { settings, files };
}

/**
 * Checks that two variables are set together or not at all, even if other variables are invalid.
 */
export function requireTogether(one: string, other: string): z.core.$ZodCheck<object> {
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
