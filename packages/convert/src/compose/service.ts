import type { ApplicationPart, PartFile, PartMount, PartNeed, PartPort } from '../application.ts';
import type { HarmlessReason } from '../report.ts';
import { type Conversion, childOf, isSecretName, type Key, Refused } from './context.ts';
import { imageOf } from './image.ts';
import { mountedBy, type Volumes } from './mounts.ts';
import { exposedPorts, publishedPorts, refuseUnknown } from './ports.ts';
import type { MapNode, Tree } from './tree.ts';
import { escaped, hasVariable, losesDefault, piecesIn, withDefaults, withPlaceholders } from './variables.ts';
import { memoryOf, secondsOf, wordsOf } from './words.ts';

/** A part while its service is read. */
export type PartDraft = { -readonly [M in keyof ApplicationPart]?: ApplicationPart[M] };

export interface ServiceContext {
  readonly conversion: Conversion;
  readonly volumes: Volumes;
  /** The name of the part of a service. @throws Refused for an unknown one */
  readonly partOf: (service: string) => string;
  /** Whether another service waits until this one has finished. */
  readonly isAwaited: boolean;
}

type Rule = (key: Key, draft: PartDraft, context: ServiceContext) => void;

const text = ({ tree }: Key): string => {
  if (tree.kind !== 'text') throw new Refused('must be a text');
  return tree.text;
};
const plain = (key: Key): string => withDefaults(piecesIn(text(key)));

const childrenOf = (key: Key): Key[] => {
  const { tree } = key;
  if (tree.kind === 'text') return tree.isNull ? [] : [key];
  if (tree.kind === 'list') return tree.items.map((item, index) => childOf(key, index, item));
  return [...tree.entries].map(([name, value]) => childOf(key, name, value));
};

/** Records the fate of each child, and goes on after one that is refused. */
function each(key: Key, { conversion }: ServiceContext, convert: (child: Key) => void): void {
  for (const child of childrenOf(key)) {
    try {
      convert(child);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      conversion.refuse(child, sentence(error));
    }
  }
}

/** The reason as a sentence. */
export const sentence = ({ message }: Refused): string => `It ${message}.`;

const drop =
  (reason: HarmlessReason): Rule =>
  (key, _, { conversion }) =>
    conversion.harmless(key, reason);
const note =
  (reason: string): Rule =>
  (key, _, { conversion }) =>
    conversion.note(key, reason);
const refuse =
  (reason: string): Rule =>
  (key, _, { conversion }) =>
    conversion.refuse(key, reason);
/** Refused unless the member is switched off. */
const refuseUnlessOff =
  (reason: string): Rule =>
  (key, _, { conversion }) =>
    key.tree.kind === 'text' && ['false', ''].includes(key.tree.text)
      ? conversion.same(key)
      : conversion.refuse(key, reason);

const ROOT = 'This gives the program root on the host, or a part of it.';
const NAMESPACE = 'A container of a fleet has namespaces of its own.';
const ADDRESSES = 'A part finds other parts by their names, and everything else through the resolver of its host.';

const environment: Rule = (key, draft, context) => {
  const env: { name: string; value: string }[] = [];
  each(key, context, (child) => {
    const [name, value] = variableOf(child);
    const pieces = value === undefined ? [{ variable: name, fallback: undefined, isRequired: false }] : piecesIn(value);
    env.push({ name, value: withPlaceholders(context.conversion, pieces) });
    if (losesDefault(pieces)) context.conversion.harmless(child, 'default_of_secret');
    else if (isSecretName(name) && !hasVariable(pieces) && !SWITCH.test(value ?? ''))
      context.conversion.note(
        child,
        'The file contains this secret, and so does the application. Replace it by an input or a generated value.',
      );
    else context.conversion.same(child);
  });
  draft.env = [...(draft.env ?? []), ...env];
};

/** A text that switches something on or off, and is no secret. */
const SWITCH = /^(?:\d?|true|false|yes|no|on|off)$/i;

/** A variable and its text; undefined: that of the shell. */
function variableOf({ path, tree }: Key): [string, string | undefined] {
  if (tree.kind !== 'text') throw new Refused('must be a text');
  const last = path.at(-1) ?? '';
  if (!/^\d+$/.test(last)) return [last, tree.isNull ? undefined : tree.text];
  const equals = tree.text.indexOf('=');
  return equals < 0 ? [tree.text, undefined] : [tree.text.slice(0, equals), tree.text.slice(equals + 1)];
}

/** A command as a text or a list. */
const words =
  (member: 'command' | 'entrypoint'): Rule =>
  (key, draft, { conversion }) => {
    if (key.tree.kind === 'text' && key.tree.isNull) return conversion.same(key);
    const given = key.tree.kind === 'list' ? childrenOf(key).map(text) : wordsOf(text(key));
    draft[member] = given.map((word) => withPlaceholders(conversion, piecesIn(word)));
    conversion.same(key);
  };

const image: Rule = (key, draft, { conversion }) => {
  const pieces = piecesIn(text(key));
  Object.assign(draft, imageOf(withDefaults(pieces)));
  if (draft.image_tag === undefined && draft.image_digest === undefined)
    conversion.note(key, 'The image has no version, so that what runs can change with each pull. State a tag.');
  else if (hasVariable(pieces)) conversion.harmless(key, 'image_variable');
  else conversion.same(key);
};

const ports: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    draft.ports = [...(draft.ports ?? []), ...publishedPorts(context.conversion, child)];
  });

const expose: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    const present: readonly PartPort[] = draft.ports ?? [];
    const added = exposedPorts(context.conversion, child);
    const isNew = (port: PartPort) =>
      !present.some(
        ({ containerPort, protocol }) => containerPort === port.containerPort && protocol === port.protocol,
      );
    draft.ports = [...present, ...added.filter(isNew)];
  });

const volumes: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    const { mount, file, tmpfs } = mountedBy(context.conversion, child, context.volumes);
    const mounts: readonly PartMount[] = draft.volume_mounts ?? [];
    const files: readonly PartFile[] = draft.files ?? [];
    if (mount) draft.volume_mounts = [...mounts, mount];
    if (file) draft.files = [...files, file];
    if (tmpfs !== undefined) draft.tmpfs = [...(draft.tmpfs ?? []), { path: tmpfs }];
  });

const temporary: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    const [path = '', options = ''] = plain(child).split(':');
    const size = memoryOf(
      options
        .split(',')
        .find((option) => option.startsWith('size='))
        ?.slice(5) ?? '',
    );
    draft.tmpfs = [...(draft.tmpfs ?? []), { path, ...(size !== undefined && { size }) }];
    context.conversion.same(child);
  });

const CONDITIONS: Readonly<Record<string, PartNeed['until']>> = {
  service_started: 'started',
  service_healthy: 'ready',
  service_completed_successfully: 'finished',
};

const dependsOn: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    const { conversion, partOf } = context;
    const isList = child.tree.kind === 'text';
    const service = isList ? text(child) : (child.path.at(-1) ?? '');
    const condition = child.tree.kind === 'map' ? child.tree.entries.get('condition') : undefined;
    const until = CONDITIONS[condition?.kind === 'text' ? condition.text : 'service_started'];
    if (until === undefined) throw new Refused('has a condition that is not known');
    draft.needs = [...(draft.needs ?? []), { part: partOf(service), until }];
    refuseUnknown(conversion, child, ['condition', 'restart', 'required']);
    const required = child.tree.kind === 'map' ? child.tree.entries.get('required') : undefined;
    if (required?.kind === 'text' && required.text === 'false')
      conversion.note(child, 'The application always has this part.');
    else conversion.same(child);
  });

const restart: Rule = (key, _, { conversion, isAwaited }) => {
  const policy = text(key);
  const endsOnce = policy === 'no' || policy.startsWith('on-failure');
  if (isAwaited && !endsOnce)
    throw new Refused('is always started again, and another service waits until it has finished');
  if (policy === 'always' || (policy === 'no' && isAwaited)) return conversion.same(key);
  if (policy !== 'no') return conversion.harmless(key, 'restart');
  conversion.note(key, 'The fleet starts the program again when it ends. If it should run once, make the part a job.');
};

const TIMINGS = ['interval', 'timeout', 'retries', 'start_period', 'start_interval'];

const healthcheck: Rule = (key, draft, { conversion }) => {
  const { tree } = key;
  if (tree.kind !== 'map') throw new Refused('must be a map');
  for (const [name, value] of tree.entries) {
    const child = childOf(key, name, value);
    if (TIMINGS.includes(name)) conversion.harmless(child, 'health_timing');
    else if (name === 'disable') conversion.same(child);
    else if (name !== 'test')
      refuseUnknown(conversion, { ...key, tree: { ...tree, entries: new Map([[name, value]]) } }, []);
  }
  const test = tree.entries.get('test');
  if (!test) return;
  const child = childOf(key, 'test', test);
  try {
    const command = healthCommand(test);
    if (command !== undefined) {
      const line = withDefaults(piecesIn(command)).replaceAll('\n', ' ').trim();
      draft.env = [...(draft.env ?? []), { name: 'SVC_HEALTH_CHECK', value: `exec:${escaped(line)}` }];
    }
    conversion.same(child);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    conversion.refuse(child, sentence(error));
  }
};

/** The command of a health check; undefined if it is switched off. */
function healthCommand(test: Tree): string | undefined {
  if (test.kind === 'text') return test.text;
  if (test.kind === 'map') throw new Refused('must be a text or a list');
  const [kind = '', ...rest] = test.items.map((item) => (item.kind === 'text' ? item.text : ''));
  if (kind === 'NONE') return undefined;
  if (kind === 'CMD-SHELL') return rest.join(' ');
  if (kind !== 'CMD') throw new Refused('must begin with CMD, CMD-SHELL or NONE');
  return rest.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

const user: Rule = (key, draft, { conversion }) => {
  const given = plain(key);
  if (!/^\d+(?::\d+)?$/.test(given))
    throw new Refused('names a user, whose id a fleet cannot look up: write the ids, such as 1000:1000');
  draft.run_as = given;
  conversion.same(key);
};

const amount =
  (member: 'memory_limit' | 'memory_request'): Rule =>
  (key, draft, { conversion }) => {
    const quantity = memoryOf(plain(key));
    if (quantity === undefined) throw new Refused('is not an amount of memory such as 512m');
    draft[member] = quantity;
    conversion.same(key);
  };

const cpus =
  (member: 'cpu_limit' | 'cpu_request'): Rule =>
  (key, draft, { conversion }) => {
    const given = Number(plain(key));
    if (!(given > 0)) throw new Refused('is not a number of CPUs');
    draft[member] = `${Math.ceil(given * 1000)}m`;
    conversion.same(key);
  };

const deploy: Rule = (key, draft, context) => nested(key, draft, context, DEPLOY);

const resources: Rule = (key, draft, context) => nested(key, draft, context, RESOURCES);

const gpus: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    const { tree } = child;
    const capabilities = tree.kind === 'map' ? tree.entries.get('capabilities') : undefined;
    const isGpu =
      capabilities?.kind === 'list' && capabilities.items.some((item) => item.kind === 'text' && item.text === 'gpu');
    if (tree.kind !== 'map' || !isGpu) throw new Refused('requests a device that is not a GPU');
    const count = tree.entries.get('count');
    const number = count?.kind === 'text' ? Number(count.text) : 1;
    if (!Number.isInteger(number) || number < 1) {
      context.conversion.note(child, 'The file requests all GPUs of the machine. The application requests one.');
      draft.gpu_count = 1;
      return;
    }
    draft.gpu_count = number;
    context.conversion.same(child);
  });

const RESOURCES: Readonly<Record<string, Rule>> = {
  limits: (key, draft, context) =>
    nested(key, draft, context, {
      cpus: cpus('cpu_limit'),
      memory: amount('memory_limit'),
      pids: drop('engine_default'),
    }),
  reservations: (key, draft, context) =>
    nested(key, draft, context, { cpus: cpus('cpu_request'), memory: amount('memory_request'), devices: gpus }),
};

const DEPLOY: Readonly<Record<string, Rule>> = {
  resources,
  replicas: (key, _, { conversion }) =>
    plain(key) === '1'
      ? conversion.same(key)
      : conversion.note(key, 'The operator chooses the number of replicas. It is 1 at first.'),
  mode: drop('update_policy'),
  restart_policy: drop('restart'),
  update_config: drop('update_policy'),
  rollback_config: drop('update_policy'),
  labels: drop('annotations'),
  endpoint_mode: drop('default_network'),
  placement: note('The operator chooses the target of the application.'),
};

const networks: Rule = (key, _, context) =>
  each(key, context, (child) => {
    const aliases = child.tree.kind === 'map' ? child.tree.entries.get('aliases') : undefined;
    if (aliases)
      context.conversion.note(
        child,
        'Other parts find this one by the name of the part only, and not by the other names.',
      );
    else context.conversion.harmless(child, 'default_network');
  });

const networkMode: Rule = (key, _, { conversion }) => {
  const mode = plain(key);
  if (mode === 'bridge') return conversion.harmless(key, 'default_network');
  conversion.refuse(key, mode === 'host' ? ROOT : NAMESPACE);
};

const init: Rule = (key, draft, { conversion }) => {
  if (plain(key) === 'false') draft.env = [...(draft.env ?? []), { name: 'SVC_INIT', value: 'false' }];
  conversion.same(key);
};

const shm: Rule = (key, draft, { conversion }) => {
  const size = memoryOf(plain(key));
  if (size === undefined) throw new Refused('is not an amount of memory such as 512m');
  draft.env = [...(draft.env ?? []), { name: 'SVC_SHM_SIZE', value: size }];
  conversion.same(key);
};

const securityOptions: Rule = (key, _, context) =>
  each(key, context, (child) => {
    if (!/^no-new-privileges(?:[:=]true)?$/.test(plain(child)))
      throw new Refused('weakens the isolation of the container');
    context.conversion.harmless(child, 'engine_default');
  });

/** The rules of the members of a service. */
export const SERVICE: Readonly<Record<string, Rule>> = {
  image,
  environment,
  command: words('command'),
  entrypoint: words('entrypoint'),
  ports,
  expose,
  volumes,
  tmpfs: temporary,
  depends_on: dependsOn,
  restart,
  healthcheck,
  user,
  deploy,
  networks,
  network_mode: networkMode,
  init,
  shm_size: shm,
  security_opt: securityOptions,
  mem_limit: amount('memory_limit'),
  mem_reservation: amount('memory_request'),
  cpus: cpus('cpu_limit'),
  working_dir: (key, draft, { conversion }) => {
    draft.working_dir = plain(key);
    conversion.same(key);
  },
  read_only: (key, draft, { conversion }) => {
    if (plain(key) === 'true') draft.read_only_root = true;
    conversion.same(key);
  },
  stop_grace_period: (key, draft, { conversion }) => {
    const seconds = secondsOf(plain(key));
    if (seconds === undefined || seconds > 600) throw new Refused('is not a time of at most ten minutes such as 1m30s');
    draft.stop_grace_seconds = seconds;
    conversion.same(key);
  },
  container_name: drop('container_name'),
  hostname: drop('container_name'),
  labels: drop('annotations'),
  annotations: drop('annotations'),
  logging: drop('logging'),
  ulimits: drop('ulimits'),
  stdin_open: drop('interactive'),
  tty: drop('interactive'),
  attach: drop('development'),
  develop: drop('development'),
  pull_policy: drop('update_policy'),
  scale: DEPLOY.replicas as Rule, // it is in the table above
  pids_limit: drop('engine_default'),
  oom_score_adj: drop('engine_default'),
  cap_drop: drop('engine_default'),
  links: note('Other parts are found by their names. Other names of links are not.'),
  profiles: note('The application always has this part. Remove it if it is not needed.'),
  platform: note('The target must have this architecture. Choose it with a node selector.'),
  stop_signal: note('The fleet sends the signal of the image, by default SIGTERM.'),
  privileged: refuseUnlessOff(ROOT),
  cap_add: refuse(ROOT),
  devices: refuse(ROOT),
  device_cgroup_rules: refuse(ROOT),
  gpus: refuse('State GPUs in deploy.resources.reservations.devices.'),
  sysctls: refuse(ROOT),
  pid: refuse(NAMESPACE),
  ipc: refuse(NAMESPACE),
  uts: refuse(NAMESPACE),
  userns_mode: refuse(NAMESPACE),
  cgroup: refuse(NAMESPACE),
  cgroup_parent: refuse(NAMESPACE),
  group_add: refuse('A container of a fleet has the groups of its image.'),
  volumes_from: refuse('State the volumes in both services.'),
  dns: refuse(ADDRESSES),
  dns_search: refuse(ADDRESSES),
  extra_hosts: refuse(ADDRESSES),
  mac_address: refuse(ADDRESSES),
  env_file: refuse('The file of variables is not here. Put its variables into environment.'),
  build: refuse('The fleet builds no images. Build and push the image, and state it in image.'),
  extends: refuse('Put the members of the extended service here.'),
  configs: refuse('Mount the file as a volume, and convert it with its files.'),
  secrets: refuse('The program receives files with secrets. A fleet passes secrets in variables.'),
};

/** Applies the rules of a table to the members of a map. */
export function nested(
  key: Key,
  draft: PartDraft,
  context: ServiceContext,
  rules: Readonly<Record<string, Rule>>,
): void {
  const { conversion } = context;
  if (key.tree.kind !== 'map') throw new Refused('must be a map');
  for (const [name, tree] of key.tree.entries) {
    const child = childOf(key, name, tree);
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (!rule) {
      refuseUnknown(conversion, { ...key, tree: onlyEntry(key.tree, name, tree) }, []);
      continue;
    }
    try {
      rule(child, draft, context);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      conversion.refuse(child, sentence(error));
    }
  }
}

const onlyEntry = (map: MapNode, name: string, tree: Tree): MapNode => ({ ...map, entries: new Map([[name, tree]]) });
