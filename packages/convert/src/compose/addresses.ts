// The ports of addresses. A file of another platform need not state the ports that only its own services use.
import type { ApplicationInput, ApplicationPart } from '../application.ts';

/** The ports of images whose last name has one of the words. */
const IMAGE_PORTS: readonly (readonly [words: readonly string[], port: number])[] = [
  [['postgres', 'postgresql', 'postgis', 'pgvector', 'timescaledb', 'pgvecto'], 5432],
  [['mysql', 'mariadb', 'percona'], 3306],
  [['redis', 'valkey', 'keydb', 'dragonfly'], 6379],
  [['mongo', 'mongodb'], 27_017],
  [['clickhouse'], 8123],
  [['rabbitmq'], 5672],
  [['mosquitto'], 1883],
  [['memcached'], 11_211],
  [['elasticsearch', 'opensearch'], 9200],
  [['meilisearch'], 7700],
  [['openldap'], 389],
  [['guacd'], 4822],
  [['tika'], 9998],
  [['gotenberg'], 3000],
  [['minio'], 9000],
  [['neo4j'], 7687],
];

/** The ports of schemes, as their specifications and clients define them. */
const SCHEME_PORTS: Readonly<Record<string, number>> = {
  http: 80,
  https: 443,
  ws: 80,
  wss: 443,
  postgres: 5432,
  postgresql: 5432,
  mysql: 3306,
  mysql2: 3306,
  mariadb: 3306,
  redis: 6379,
  rediss: 6379,
  mongodb: 27_017,
  amqp: 5672,
  amqps: 5671,
  ldap: 389,
  ldaps: 636,
  smtp: 25,
  mqtt: 1883,
  nats: 4222,
};

interface WithPorts {
  readonly parts: readonly ApplicationPart[];
  /** The names of parts that had no port, and have one. */
  readonly completed: readonly string[];
  /** The names of parts that others reach, and whose ports are not known. */
  readonly unknown: readonly string[];
}

/** Gives parts the ports that `portsFor` finds; undefined: the part stays as it is. */
function withPorts(
  parts: readonly ApplicationPart[],
  portsFor: (part: ApplicationPart) => readonly number[] | undefined,
): WithPorts {
  const completed: string[] = [];
  const unknown: string[] = [];
  const changed = parts.map((part) => {
    const found = portsFor(part);
    if (found === undefined) return part;
    (found.length > 0 ? completed : unknown).push(part.name);
    return found.length > 0 ? { ...part, ports: found.map((containerPort) => ({ containerPort })) } : part;
  });
  return { parts: changed, completed, unknown };
}

const hasPorts = ({ ports = [] }: ApplicationPart): boolean => ports.length > 0;

/** The parts with the ports of their images, if none of them has a port. Jobs have none. */
export function withImagePorts(parts: readonly ApplicationPart[]): WithPorts {
  const isComplete = parts.some(hasPorts);
  return withPorts(parts, (part) => (isComplete || part.kind === 'job' ? undefined : portsOfImage(part)));
}

/** The parts with the ports that the addresses of their hosts need. Ports that a file states are not changed. */
export function withUsedPorts(parts: readonly ApplicationPart[], inputs: readonly ApplicationInput[]): WithPorts {
  const defaults = new Map(inputs.map((input) => [`\${inputs.${input.name}}`, input.default]));
  const read = (text: string) => portIn(defaults.get(text) ?? text);
  return withPorts(parts, (part) =>
    hasPorts(part) || !isAddressed(parts, part) ? undefined : usedPorts(parts, part, read),
  );
}

const hostOf = ({ name }: ApplicationPart): string => `\${parts.${name}.host}`;

const isAddressed = (parts: readonly ApplicationPart[], part: ApplicationPart): boolean =>
  parts.some(({ env = [] }) => env.some(({ value }) => value.includes(hostOf(part))));

/** A port as text; undefined for another text. */
function portIn(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

type ReadPort = (text: string) => number | undefined;

/** The ports that addresses state; otherwise those of other variables, of the schemes, or of the image. */
function usedPorts(parts: readonly ApplicationPart[], part: ApplicationPart, read: ReadPort): number[] {
  const stated: number[] = [];
  const beside: number[] = [];
  const ofSchemes: number[] = [];
  for (const { env = [] } of parts) {
    const variables = new Map(env.map(({ name, value }) => [name, value]));
    for (const { name, value } of env) {
      for (const { before, after } of placesOf(value, hostOf(part))) {
        push(stated, statedPort(after, read));
        push(beside, portBeside(name, variables, read));
        push(ofSchemes, SCHEME_PORTS[schemeBefore(before)]);
      }
    }
  }
  const ports = [stated, beside, ofSchemes].find((each) => each.length > 0) ?? portsOfImage(part);
  return [...new Set(ports)];
}

function push(ports: number[], port: number | undefined): void {
  if (port !== undefined) ports.push(port);
}

/** The texts before and after each occurrence of a host. */
function placesOf(value: string, host: string): { readonly before: string; readonly after: string }[] {
  const pieces = value.split(host);
  return pieces.slice(1).map((after, index) => ({ before: pieces[index] ?? '', after }));
}

/** The port of `:5432`, `:${inputs.port}`, `;port=5432`, or `port: 5432` in the next line. */
function statedPort(after: string, read: ReadPort): number | undefined {
  const [, colon] = /^:(\d{1,5}|\$\{inputs\.[a-z0-9_]{1,63}\})/.exec(after) ?? [];
  const [, member] = /^[;,\s]\s{0,20}port\s{0,3}[=:]\s{0,3}(\d{1,5}|\$\{inputs\.[a-z0-9_]{1,63}\})/i.exec(after) ?? [];
  const text = colon ?? member;
  return text === undefined ? undefined : read(text);
}

const HOST = /(?:HOSTNAME|HOST|SERVER|ADDRESS|ADDR)$/i;

/** The port of `DB_PORT` beside `DB_HOST`. */
function portBeside(name: string, variables: ReadonlyMap<string, string>, read: ReadPort): number | undefined {
  const start = name.replace(HOST, '');
  if (start === name) return undefined;
  const value = variables.get(`${start}PORT`) ?? variables.get(`${start}port`);
  return value === undefined ? undefined : read(value);
}

/** The scheme of the URL whose host follows a text; '' if there is none. */
function schemeBefore(before: string): string {
  const at = before.lastIndexOf('://');
  if (at < 0 || /[\s/?#"']/.test(before.slice(at + 3))) return '';
  return /[a-z0-9]{1,20}$/i.exec(before.slice(Math.max(0, at - 20), at))?.[0].toLowerCase() ?? '';
}

/** Words of images that only connect to others, such as postgres-exporter. */
const CLIENTS = ['exporter', 'backup'];

function portsOfImage({ image_name }: ApplicationPart): number[] {
  const words = (image_name.split('/').at(-1) ?? '').toLowerCase().split(/[^a-z0-9]+/);
  if (words.some((word) => CLIENTS.includes(word))) return [];
  const found = IMAGE_PORTS.find(([known]) => known.some((word) => words.includes(word)));
  return found ? [found[1]] : [];
}
