import { posix } from 'node:path';
import {
  containerOptionError,
  grantsDevices,
  HEALTH_CHECK,
  type HealthCheck,
  INIT,
  isContainerOption,
  readHealthCheck,
  readInit,
  readShmSize,
  SHM_SIZE,
} from '@svc/contract';
import type { WorkloadSpec } from '@svc/contract/fleet';
import { gpuCountOf } from '../placement/candidates.ts';
import { CONTAINERS_HAVE_INIT, DEVICES_ARE_REQUESTED } from './defaults.ts';
import type { SpecProblem } from './env.ts';
import type { Rendering } from './rendering.ts';

type Variables = Pick<Rendering, 'env' | 'defaults'>;

/** The version of the defaults that introduced the variables that configure the container. */
const SINCE = 2;

/** An image can set this variable itself, so that an engine gives the container all GPUs. */
const NO_GPUS = { name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' };

/** The variables of the program in the container. */
export function programVariables({
  env,
  defaults,
  spec,
}: Pick<Rendering, 'env' | 'defaults' | 'spec'>): Rendering['env'] {
  if (defaults < SINCE) return env;
  const variables = env.filter(({ name }) => !isContainerOption(name));
  if (defaults < DEVICES_ARE_REQUESTED) return variables;
  const others = variables.filter(({ name }) => !grantsDevices(name));
  return gpuCountOf(spec) > 0 ? others : [...others, NO_GPUS];
}

const valueOfOption = ({ env, defaults }: Variables, option: string): string =>
  (defaults < SINCE ? undefined : env.find(({ name }) => name === option)?.value) ?? '';

/** The size of `/dev/shm` in bytes; undefined for the default of the engine. */
export const shmSizeOf = (variables: Variables): number | undefined => readShmSize(valueOfOption(variables, SHM_SIZE));

/** The health check; undefined for that of the image. */
export const healthCheckOf = (variables: Variables): HealthCheck | undefined =>
  readHealthCheck(valueOfOption(variables, HEALTH_CHECK));

/** Whether a container on a host has an init process. */
export const hasInit = (variables: Variables): boolean =>
  variables.defaults >= CONTAINERS_HAVE_INIT && (readInit(valueOfOption(variables, INIT)) ?? true);

export const SHM_PATH = '/dev/shm';

/**
 * The values of a deployment that are not allowed. The mirror and a deployment can have values that
 * no rule has checked.
 */
export function containerOptionProblems(
  { volume_mounts }: Pick<WorkloadSpec, 'volume_mounts'>,
  env: Rendering['env'],
): SpecProblem[] {
  const isMounted = volume_mounts.some(({ mountPath }) => posix.resolve('/', mountPath) === SHM_PATH);
  return env.flatMap(({ name, value }) => {
    const error = containerOptionError(name, value);
    if (error !== undefined) return [{ path: `env.${name}`, message: error }];
    if (name !== SHM_SIZE || value === '' || !isMounted) return [];
    return [{ path: `env.${name}`, message: `must not be set, because a volume is mounted at ${SHM_PATH}` }];
  });
}

/** The period between two checks, and the maximum duration of one, in seconds. */
export const CHECK_PERIOD = 10;
export const CHECK_TIMEOUT = 5;
/** The number of consecutive failures after which a container is unhealthy. */
export const CHECK_FAILURES = 3;

/** The start period if the workload states none. It equals the progress deadline on clusters. */
const START_PERIOD = 1800;

/** Seconds after the start during which failures of the health check do not count. */
export const startPeriodOf = ({ start_period_seconds }: Pick<WorkloadSpec, 'start_period_seconds'>): number =>
  start_period_seconds || START_PERIOD;

const PROXIES = 'http_proxy HTTP_PROXY all_proxy ALL_PROXY';
const PYTHON = 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)';

/**
 * The script with which an engine without probes checks a container from inside. It needs
 * `/bin/sh`, and a check over HTTP also curl, wget or Python. A check of a port reads the listening
 * sockets from procfs, and so connects to nothing.
 */
export function healthScript(check: HealthCheck): string {
  switch (check.kind) {
    case 'exec':
      return check.command;
    case 'tcp': {
      const port = check.port.toString(16).toUpperCase().padStart(4, '0');
      // State 0A is LISTEN. Only builtins of the shell are used.
      const search = `while read -r _ local _ state _; do case "$local $state" in *":${port} 0A") exit 0;; esac; done`;
      return `for table in /proc/net/tcp /proc/net/tcp6; do [ -r $table ] && ${search} <$table; done\nexit 1`;
    }
    case 'http': {
      const url = `http://127.0.0.1:${check.port}${check.path}`;
      return [
        `unset ${PROXIES}`,
        `if command -v curl >/dev/null; then exec curl -fsS -o /dev/null '${url}'; fi`,
        `if command -v wget >/dev/null; then exec wget -q -O /dev/null '${url}'; fi`,
        `if command -v python3 >/dev/null; then exec python3 -c '${PYTHON}' '${url}'; fi`,
        `echo 'a health check over HTTP needs curl, wget or python3 in the image'; exit 1`,
      ].join('\n');
    }
  }
}
