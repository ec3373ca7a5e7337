import type { z } from 'zod';

/**
 * Reserved variables. A template declares them in `env` or `env_schema`, because its members are
 * fixed. The first three configure the container, and the fleet does not pass them to the program.
 */
export const SHM_SIZE = 'SVC_SHM_SIZE';
export const HEALTH_CHECK = 'SVC_HEALTH_CHECK';
export const INIT = 'SVC_INIT';
/**
 * The ports with web pages. It changes nothing in the container, so it is passed to the program
 * like any other variable.
 */
export const HTTP_PORTS = 'SVC_HTTP_PORTS';

const OPTIONS: readonly string[] = [SHM_SIZE, HEALTH_CHECK, INIT];

export const isContainerOption = (name: string): boolean => OPTIONS.includes(name);

export const isReservedVariable = (name: string): boolean => isContainerOption(name) || name === HTTP_PORTS;

/** How to find out whether the program in a container works. */
export type HealthCheck =
  | { readonly kind: 'http'; readonly port: number; readonly path: string }
  | { readonly kind: 'tcp'; readonly port: number }
  | { readonly kind: 'exec'; readonly command: string };

const MEBIBYTE = 2 ** 20;
const GIBIBYTE = 2 ** 30;
const MAX_SHM_SIZE = 256 * GIBIBYTE;

/** The size of `/dev/shm` in bytes; undefined if the value is not allowed. */
export function readShmSize(value: string): number | undefined {
  const [, digits, unit] = /^([1-9]\d{0,5})(Mi|Gi)$/.exec(value) ?? [];
  const bytes = Number(digits) * (unit === 'Gi' ? GIBIBYTE : MEBIBYTE);
  return bytes <= MAX_SHM_SIZE ? bytes : undefined;
}

const MAX_HEALTH_CHECK = 1024;

/** The health check that a value describes; undefined if the value is not allowed. */
export function readHealthCheck(value: string): HealthCheck | undefined {
  if (value.length > MAX_HEALTH_CHECK) return undefined;
  const [, kind = '', rest = ''] = /^(http|tcp|exec):([^\r\n]+)$/.exec(value) ?? [];
  if (kind === 'exec') return rest.trim() === '' ? undefined : { kind, command: rest };
  const [, digits, path] = /^([1-9]\d{0,4})(\/[\w./~%?&=+:@-]*)?$/.exec(rest) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) return undefined;
  if (kind === 'http') return { kind, port, path: path ?? '/' };
  return kind === 'tcp' && path === undefined ? { kind, port } : undefined;
}

/** A TCP port of a container at which a browser finds a web page. */
export interface WebPort {
  readonly port: number;
  readonly scheme: 'http' | 'https';
}

const MAX_HTTP_PORTS = 16;

/** The ports that a value such as `3000, 8443/https` names; undefined if the value is not allowed. */
export function readHttpPorts(value: string): readonly WebPort[] | undefined {
  const parts = value.split(',', MAX_HTTP_PORTS + 1);
  if (parts.length > MAX_HTTP_PORTS) return undefined;
  const ports = parts.flatMap((part) => readHttpPort(part.trim()) ?? []);
  return ports.length === parts.length ? ports : undefined;
}

function readHttpPort(text: string): WebPort | undefined {
  const [, digits, scheme] = /^([1-9]\d{0,4})(?:\/(https?))?$/.exec(text) ?? [];
  const port = Number(digits);
  return port <= 65_535 ? { port, scheme: scheme === 'https' ? 'https' : 'http' } : undefined;
}

const HTTP_PORTS_RULE = `must be at most ${MAX_HTTP_PORTS} ports, separated by commas, each with /https if it needs TLS, such as 3000, 8443/https`;
const INIT_RULE = 'must be true or false';
const SHM_SIZE_RULE = 'must be the size of /dev/shm, from 1Mi to 256Gi, such as 512Mi or 2Gi';
const HEALTH_CHECK_RULE = `must be http:<port><path>, tcp:<port> or exec:<command>, such as http:8080/health, on one line of at most ${MAX_HEALTH_CHECK} characters`;

/** Whether a container has an init process; undefined if the value is not allowed. */
export function readInit(value: string): boolean | undefined {
  return value === 'true' || value === 'false' ? value === 'true' : undefined;
}

/** The error in the value of a variable; undefined if there is none. '' stands for no value. */
export function containerOptionError(name: string, value: string): string | undefined {
  if (value === '') return undefined;
  if (name === SHM_SIZE && readShmSize(value) === undefined) return SHM_SIZE_RULE;
  if (name === HEALTH_CHECK && readHealthCheck(value) === undefined) return HEALTH_CHECK_RULE;
  if (name === INIT && readInit(value) === undefined) return INIT_RULE;
  if (name === HTTP_PORTS && readHttpPorts(value) === undefined) return HTTP_PORTS_RULE;
  return undefined;
}

/** The check of a declaration whose member `member` is the value of the variable. */
export const hasValidOption =
  <M extends string>(member: M) =>
  ({ value, issues }: z.core.ParsePayload<{ readonly name: string } & { readonly [K in M]: string }>): void => {
    const message = containerOptionError(value.name, value[member]);
    if (message !== undefined) issues.push({ code: 'custom', path: [member], message, input: value });
  };
