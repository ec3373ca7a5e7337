import { withSecretFiles } from '@svc/http/secret-files';

/** The settings of the identity provider. The default `issuer` is the URL at which it listens. */
export type Settings = {
  port: number;
  host: string;
  issuer?: string;
  keysFile?: string;
  audiences: readonly string[];
  redirectUris: readonly string[];
  fleetClientSecret?: string;
  password: string;
};

/** The environment is invalid. The message lists each invalid variable and what is allowed. */
export class SettingsError extends Error {}

/** Loopback URLs match with any port (RFC 8252, section 7.3), so a frontend can use any port of this machine. */
const defaultRedirectUris = [
  'http://127.0.0.1/callback',
  'http://localhost/callback',
  'http://127.0.0.1/api/v1/auth/oidc/callback',
  'http://localhost/api/v1/auth/oidc/callback',
];

const secrets = ['FLEET_CLIENT_SECRET', 'DEV_PASSWORD'];

/** Reads the settings from an environment and the files of its secrets. Throws SettingsError. */
export function parseSettings(given: NodeJS.ProcessEnv): Settings {
  const { environment: env, errors } = withSecretFiles(secrets, given);
  const port = env.PORT ? Number(env.PORT) : 4300;
  const audiences = list(env.AUDIENCES) ?? ['https://hub.example.test'];
  const redirectUris = list(env.REDIRECT_URIS) ?? defaultRedirectUris;
  const problems = [
    [...errors.values()],
    Number.isInteger(port) && port >= 0 && port <= 65_535
      ? []
      : [`PORT must be an integer from 0 to 65535, not "${env.PORT}"`],
    env.ISSUER && !URL.canParse(env.ISSUER) ? [`ISSUER must be a URL, not "${env.ISSUER}"`] : [],
    audiences.filter((uri) => !URL.canParse(uri)).map((uri) => `AUDIENCES must be URLs, not "${uri}"`),
    redirectUris.filter((uri) => !URL.canParse(uri)).map((uri) => `REDIRECT_URIS must be URLs, not "${uri}"`),
  ].flat();
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  return {
    port,
    host: env.HOST || '127.0.0.1',
    ...(env.ISSUER && { issuer: env.ISSUER }),
    ...(env.KEYS_FILE && { keysFile: env.KEYS_FILE }),
    audiences,
    redirectUris,
    ...(env.FLEET_CLIENT_SECRET && { fleetClientSecret: env.FLEET_CLIENT_SECRET }),
    password: env.DEV_PASSWORD || 'development',
  };
}

function list(value: string | undefined) {
  const entries = value?.split(',').map((entry) => entry.trim());
  return entries?.filter((entry) => entry !== '');
}
