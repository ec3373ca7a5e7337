import path from 'node:path';
import { StartError } from './start-error.ts';

export type Settings = {
  ports: { hub: number; fleet: number; identityProvider: number; postgres: number };
  dataDir: string;
  /** The variables of this process's environment for the services. */
  passedOn: NodeJS.ProcessEnv;
  /** Possible sockets of the engine of this machine, in order of preference. */
  engineSockets: string[];
  /** Whether the fleet has simulated hosts instead of the engine of this machine. */
  demo: boolean;
  /** npm started this process and forwards signals to it. If npm exits, the process must stop by itself. */
  startedByNpm: boolean;
};

export type PortName = 'HUB_PORT' | 'FLEET_PORT' | 'IDP_PORT' | 'POSTGRES_PORT';

export const repository = path.resolve(import.meta.dirname, '..', '..', '..');

const passedOnNames = /^(PATH|HOME|TMPDIR|TZ|SystemRoot|LOG_LEVEL|RATE_LIMIT|CORS_ORIGINS|NETWORK_POOL|NODE_.*)$/;

/**
 * Reads the settings from the environment and the arguments. No other module reads the environment. Throws StartError.
 */
export function parseSettings(env: NodeJS.ProcessEnv, args: readonly string[] = []): Settings {
  const unknown = args.find((arg) => arg !== '--demo');
  if (unknown !== undefined) {
    throw new StartError(`Unknown option ${unknown}. The only option is --demo: npm start -- --demo`);
  }
  const port = (name: PortName, defaultPort: number) => parsePort(name, env[name] || String(defaultPort));
  const ports = {
    hub: port('HUB_PORT', 4100),
    fleet: port('FLEET_PORT', 4200),
    identityProvider: port('IDP_PORT', 4300),
    postgres: port('POSTGRES_PORT', 4400),
  };
  if (new Set(Object.values(ports)).size < 4) {
    throw new StartError(
      `HUB_PORT (${ports.hub}), FLEET_PORT (${ports.fleet}), IDP_PORT (${ports.identityProvider}) and ` +
        `POSTGRES_PORT (${ports.postgres}) must all be different.`,
    );
  }
  return {
    ports,
    dataDir: path.resolve(env.DATA_DIR || path.join(repository, '.data')),
    passedOn: Object.fromEntries(Object.entries(env).filter(([name]) => passedOnNames.test(name))),
    engineSockets: engineSocketsOf(env),
    demo: args.length > 0,
    startedByNpm: env.npm_lifecycle_event !== undefined,
  };
}

/** The sockets in DOCKER_HOST and CONTAINER_HOST, or else the default sockets of Docker and Podman. */
function engineSocketsOf({ DOCKER_HOST, CONTAINER_HOST, XDG_RUNTIME_DIR }: NodeJS.ProcessEnv): string[] {
  const configured = [DOCKER_HOST, CONTAINER_HOST].flatMap((host) =>
    host?.startsWith('unix://') ? [host.slice(7)] : [],
  );
  const ofUser = XDG_RUNTIME_DIR ? [`${XDG_RUNTIME_DIR}/podman/podman.sock`] : [];
  return configured.length > 0 ? configured : ['/var/run/docker.sock', ...ofUser, '/run/podman/podman.sock'];
}

function parsePort(name: PortName, value: string) {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (port < 1 || port > 65_535) throw new StartError(`${name} must be a port from 1 to 65535, not "${value}".`);
  return port;
}
