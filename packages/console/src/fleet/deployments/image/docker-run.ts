import { type ShellWord, splitShellCommand } from './shell-words.ts';

/** Why a part of a `docker run` command is not in the form, or is there in another way. */
export type OmissionReason =
  | 'host-port'
  | 'host-path'
  | 'env-file'
  | 'shell-value'
  | 'expansion'
  | 'user-name'
  | 'tmpfs-size'
  | 'network'
  | 'restart'
  | 'terminal'
  | 'health-timing'
  | 'gpus'
  | 'invalid'
  | 'unsupported'
  | 'rest';

/** A part of the command as it was written, and why it was not carried over. */
export interface Omission {
  readonly written: string;
  readonly reason: OmissionReason;
}

/** What a `docker run` command states about a deployment. Members without a value are not stated. */
export interface RunCommand {
  readonly image: string;
  readonly name?: string;
  readonly command: readonly string[];
  readonly variables: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly containerPort: number; readonly protocol: string }[];
  readonly volumes: readonly { readonly name: string; readonly mountPath: string; readonly read_only?: true }[];
  readonly temporary: readonly { readonly path: string; readonly size: string }[];
  readonly entrypoint?: string;
  readonly workingDir?: string;
  readonly runAs?: string;
  readonly readOnlyRoot?: true;
  readonly cpu?: string;
  readonly memory?: string;
  readonly gpus?: number;
  readonly stopSeconds?: number;
  /** The command of the health check. */
  readonly healthCommand?: string;
  readonly omissions: readonly Omission[];
}

/** `program`: the text is not a `docker run` command. `image`: the command has no image. */
export type RunCommandError = 'program' | 'image';

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer Item)[] ? Item[] : T[K] };
type Result = Mutable<RunCommand>;

/** An option with its value, as it was written. */
interface Option {
  readonly value: string;
  readonly isExpanded: boolean;
  readonly omit: (reason: OmissionReason) => void;
}

/** The options without a value. Every other option has one. */
const switches: ReadonlySet<string> = new Set([
  'detach',
  'disable-content-trust',
  'help',
  'init',
  'interactive',
  'no-healthcheck',
  'no-hosts',
  'oom-kill-disable',
  'privileged',
  'publish-all',
  'quiet',
  'read-only',
  'replace',
  'rm',
  'rmi',
  'sig-proxy',
  'tty',
]);

const shortNames: Readonly<Record<string, string>> = {
  P: 'publish-all',
  a: 'attach',
  c: 'cpu-shares',
  d: 'detach',
  e: 'env',
  h: 'hostname',
  i: 'interactive',
  l: 'label',
  m: 'memory',
  p: 'publish',
  q: 'quiet',
  t: 'tty',
  u: 'user',
  v: 'volume',
  w: 'workdir',
};

const PROGRAMS: readonly string[] = ['docker', 'podman', 'nerdctl'];
const MAX_PORT_RANGE = 50;

/** What an option means for a deployment. An option that is not listed has no counterpart. */
const options: Readonly<Record<string, (result: Result, option: Option) => void>> = {
  cpus: (result, { value, omit }) => {
    if (/^(?:\d+(?:\.\d*)?|\.\d+)$/.test(value)) result.cpu = value;
    else omit('invalid');
  },
  // The fleet always runs containers in the background, and removes them itself.
  detach: () => undefined,
  entrypoint: (result, { value }) => {
    result.entrypoint = value;
  },
  env: (result, { value, omit, isExpanded }) => {
    const at = value.indexOf('=');
    if (at === -1) omit('shell-value');
    else if (isExpanded) omit('expansion');
    setVariable(result, at === -1 ? value : value.slice(0, at), at === -1 ? '' : value.slice(at + 1));
  },
  'env-file': (_, { omit }) => omit('env-file'),
  gpus: (result, { value, omit }) => {
    const count = gpuCountOf(value);
    if (count === undefined) omit('invalid');
    else result.gpus = count;
    if (count !== undefined && !/^(?:count=)?\d+$/.test(value)) omit('gpus');
  },
  'health-cmd': (result, { value }) => {
    result.healthCommand = value;
  },
  'health-interval': (_, { omit }) => omit('health-timing'),
  'health-retries': (_, { omit }) => omit('health-timing'),
  'health-start-interval': (_, { omit }) => omit('health-timing'),
  'health-start-period': (_, { omit }) => omit('health-timing'),
  'health-timeout': (_, { omit }) => omit('health-timing'),
  init: (result) => setVariable(result, 'SVC_INIT', 'true'),
  interactive: (_, { omit }) => omit('terminal'),
  memory: (result, { value, omit }) => {
    const memory = quantityOfBytes(value);
    if (memory === undefined) omit('invalid');
    else result.memory = memory;
  },
  mount: (result, option) => {
    const parts = new Map(
      option.value.split(',').map((part) => {
        const [key = '', ...value] = part.split('=');
        return [key, value.join('=')] as const;
      }),
    );
    const path = parts.get('target') ?? parts.get('destination') ?? parts.get('dst') ?? '';
    const type = parts.get('type') ?? 'volume';
    if (path === '') return option.omit('invalid');
    if (type === 'tmpfs') return addTemporary(result, option, { path, size: parts.get('tmpfs-size') });
    if (type === 'bind') option.omit('host-path');
    const isReadOnly = parts.has('readonly') || parts.has('ro');
    addVolume(result, type === 'bind' ? '' : (parts.get('source') ?? parts.get('src') ?? ''), { path, isReadOnly });
  },
  name: (result, { value }) => {
    result.name = value;
  },
  net: (_, { omit }) => omit('network'),
  network: (_, { omit }) => omit('network'),
  publish: (result, option) => addPorts(result, option),
  'read-only': (result) => {
    result.readOnlyRoot = true;
  },
  // Containers are started again in any case.
  restart: (_, { value, omit }) => {
    if (value !== 'always' && value !== 'unless-stopped') omit('restart');
  },
  rm: () => undefined,
  'shm-size': (result, { value, omit }) => {
    const bytes = bytesOf(value);
    if (bytes === undefined || bytes < MEBIBYTE) omit('invalid');
    else setVariable(result, 'SVC_SHM_SIZE', `${Math.ceil(bytes / MEBIBYTE)}Mi`);
  },
  'stop-timeout': (result, { value, omit }) => {
    if (/^\d{1,9}$/.test(value)) result.stopSeconds = Number(value);
    else omit('invalid');
  },
  tmpfs: (result, option) => {
    const [path = '', given = ''] = option.value.split(':');
    addTemporary(result, option, { path, size: /(?:^|,)size=([^,]+)/.exec(given)?.[1] });
  },
  tty: (_, { omit }) => omit('terminal'),
  user: (result, { value, omit }) => {
    if (/^\d{1,10}(?::\d{1,10})?$/.test(value)) result.runAs = value;
    else omit('user-name');
  },
  volume: (result, option) => {
    const [first = '', path, mode = ''] = option.value.split(':');
    if (path === undefined) return addVolume(result, '', { path: first, isReadOnly: false });
    const isHostPath = option.isExpanded || /^[./~]/.test(first);
    if (isHostPath) option.omit('host-path');
    addVolume(result, isHostPath ? '' : first, { path, isReadOnly: mode.split(',').includes('ro') });
  },
  workdir: (result, { value, omit }) => {
    if (value.startsWith('/')) result.workingDir = value;
    else omit('invalid');
  },
};

/** Reads a command as `docker run`, `podman run` or `nerdctl run` accept it. */
export function readRunCommand(text: string): RunCommand | RunCommandError {
  const { words, rest } = splitShellCommand(text.trim().replace(/^[$#>]\s+/, ''));
  const program = words.findIndex((word) => PROGRAMS.includes(word.text.split('/').at(-1) ?? ''));
  const verb = words.findIndex((word, index) => index > program && ['run', 'create'].includes(word.text));
  if (program === -1 || verb === -1) return 'program';
  const result: Result = {
    image: '',
    command: [],
    variables: [],
    ports: [],
    volumes: [],
    temporary: [],
    omissions: [],
  };
  const end = readOptions(result, words, verb + 1);
  const image = words[end];
  if (image === undefined) return 'image';
  result.image = image.text;
  const args = words.slice(end + 1);
  result.command = args.map((arg) => arg.text);
  for (const word of [image, ...args])
    if (word.isExpanded) result.omissions.push({ written: word.text, reason: 'expansion' });
  if (rest !== '') result.omissions.push({ written: rest, reason: 'rest' });
  return result;
}

/** Reads the options from `start` on. @returns the index of the first word after them */
function readOptions(result: Result, words: readonly ShellWord[], start: number): number {
  let index = start;
  for (; index < words.length; index += 1) {
    const { text, isExpanded } = words[index] ?? { text: '', isExpanded: false };
    if (text === '--') return index + 1;
    if (!text.startsWith('-') || text === '-') return index;
    /** Applies an option. Its value is `given`, or the next word. */
    const apply = (name: string, flag: string, given: string | undefined) => {
      const isSwitch = switches.has(name);
      const next = given === undefined && !isSwitch ? words[index + 1] : undefined;
      if (next) index += 1;
      const value = given ?? next?.text ?? '';
      if (isSwitch && value === 'false') return;
      const written = next ? `${flag} ${next.text}` : flag;
      const omit = (reason: OmissionReason) => void result.omissions.push({ written, reason });
      const read = Object.hasOwn(options, name) ? options[name] : undefined;
      if (!isSwitch && given === undefined && !next) omit('invalid');
      else if (read) read(result, { value, isExpanded: isExpanded || next?.isExpanded === true, omit });
      else omit('unsupported');
    };
    if (text.startsWith('--')) {
      const at = text.indexOf('=');
      const name = text.slice(2, at === -1 ? undefined : at);
      apply(name, text, at === -1 ? undefined : text.slice(at + 1));
    } else readShortOptions(text, apply);
  }
  return index;
}

/** Reads a word with short options: `-it`, `-p80:80` or `-p=80:80`. */
function readShortOptions(text: string, apply: (name: string, flag: string, given: string | undefined) => void): void {
  for (let at = 1; at < text.length; at += 1) {
    const letter = text.charAt(at);
    const name = Object.hasOwn(shortNames, letter) ? (shortNames[letter] ?? letter) : letter;
    if (switches.has(name)) apply(name, `-${letter}`, undefined);
    else {
      const given = text.slice(at + 1).replace(/^=/, '');
      apply(name, `-${text.slice(at)}`, given === '' ? undefined : given);
      return;
    }
  }
}

function setVariable({ variables }: Result, name: string, value: string): void {
  const index = variables.findIndex((variable) => variable.name === name);
  if (index === -1) variables.push({ name, value });
  else variables[index] = { name, value };
}

/** Adds the container ports of `[[address:]port:]port[/protocol]`, in which a port can be a range. */
function addPorts({ ports }: Result, { value, omit }: Option): void {
  const [mapping = '', protocol = 'tcp'] = value.split('/');
  const colon = mapping.lastIndexOf(':');
  const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(mapping.slice(colon + 1)) ?? [];
  const count = Number(last) - Number(first) + 1;
  if (first === '' || count < 1 || count > MAX_PORT_RANGE) {
    omit('invalid');
    return;
  }
  if (colon > 0) omit('host-port');
  for (let offset = 0; offset < count; offset += 1) {
    const port = { containerPort: Number(first) + offset, protocol: protocol.toUpperCase() };
    if (!ports.some((one) => one.containerPort === port.containerPort && one.protocol === port.protocol))
      ports.push(port);
  }
}

/** Adds a volume with a name that derives from that of the command, or from the last part of the path. */
function addVolume(
  { volumes }: Result,
  name: string,
  { path: mountPath, isReadOnly }: { readonly path: string; readonly isReadOnly: boolean },
): void {
  const last = mountPath.split('/').findLast((part) => part !== '') ?? '';
  const base = dnsLabelOf(name === '' ? last : name) || 'data';
  const isTaken = (wanted: string) => volumes.some((volume) => volume.name === wanted);
  let number = 1;
  const numbered = () => (number === 1 ? base : `${base.slice(0, 60)}-${number}`);
  while (isTaken(numbered())) number += 1;
  volumes.push({ name: numbered(), mountPath, ...(isReadOnly && { read_only: true as const }) });
}

/** The size of a temporary directory without one, which Docker does not limit. */
const TEMPORARY_SIZE = '64Mi';

function addTemporary(
  { temporary }: Result,
  { omit }: Option,
  { path, size }: { readonly path: string; readonly size: string | undefined },
): void {
  const bytes = size === undefined ? undefined : bytesOf(size);
  if (bytes === undefined || bytes === 0) omit('tmpfs-size');
  temporary.push({ path, size: bytes ? `${Math.ceil(bytes / MEBIBYTE)}Mi` : TEMPORARY_SIZE });
}

/** The nearest DNS label to a text; '' if it has no letter or digit. */
export const dnsLabelOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .split('-')
    .filter((part) => part !== '')
    .join('-');

const MEBIBYTE = 2 ** 20;
const UNITS: Readonly<Record<string, string>> = { k: 'Ki', m: 'Mi', g: 'Gi', t: 'Ti' };
const FACTORS: Readonly<Record<string, number>> = { k: 2 ** 10, m: MEBIBYTE, g: 2 ** 30, t: 2 ** 40 };
const AMOUNT = /^(\d{1,15}(?:\.\d{1,9})?)([bkmgt]?)(?:i?b)?$/;

/** A size of Docker, such as `512m`, as a Kubernetes quantity. */
function quantityOfBytes(value: string): string | undefined {
  const [, number, unit = ''] = AMOUNT.exec(value.toLowerCase()) ?? [];
  return number === undefined ? undefined : `${number}${UNITS[unit] ?? ''}`;
}

function bytesOf(value: string): number | undefined {
  const [, number, unit = ''] = AMOUNT.exec(value.toLowerCase()) ?? [];
  return number === undefined ? undefined : Number(number) * (FACTORS[unit] ?? 1);
}

/** The number of GPUs of `all`, `2`, `count=2` or `"device=0,1"`; one for `all`. */
function gpuCountOf(value: string): number | undefined {
  const plain = value.replaceAll('"', '');
  if (plain === 'all') return 1;
  const [, count] = /^(?:count=)?(\d{1,4})$/.exec(plain) ?? [];
  if (count !== undefined) return Number(count);
  const [, devices] = /^device=(.+)$/.exec(plain) ?? [];
  return devices?.split(',').length;
}
