import type { PartFile, PartMount, PartNeed, PartPort } from '../application.ts';
import { isSecretName, isSecretText } from '../secret-names.ts';
import { type Key, type Piece, Refused } from './context.ts';
import { healthCheckOf } from './health.ts';
import { imageOf } from './image.ts';
import { type Mounted, mountedBy, temporaryAt } from './mounts.ts';
import { exposedPorts, publishedPorts, refuseUnknown } from './ports.ts';
import {
  childrenOf,
  drop,
  each,
  nested,
  note,
  type PartDraft,
  plain,
  type Rule,
  refuse,
  refuseUnlessOff,
  type ServiceContext,
  same,
  settled,
  text,
} from './rules.ts';
import { memberText, textsIn } from './tree.ts';
import { fateOf, hasVariable, withDefaults, withPlaceholders } from './variables.ts';
import { memoryOf, secondsOf, wordsOf } from './words.ts';

export const ROOT = 'This gives the program root on the host, or a part of it.';
const NAMESPACE = 'A container of a fleet has namespaces of its own.';
const ADDRESSES = 'A part finds other parts by their names, and everything else through the resolver of its host.';

/** The pieces of the value of a variable. `value` is undefined if the file has only its name. @throws Refused */
type ReadValue = (
  key: Key,
  name: string,
  value: string | undefined,
  context: ServiceContext,
) => readonly Piece[] | undefined;

/** The rule of `environment`. A value that is read as undefined has a fate already, and is left out. */
export const environmentWith =
  (read: ReadValue): Rule =>
  (key, draft, context) =>
    each(key, context, (child) => {
      const [name, value] = variableOf(child);
      const pieces = read(child, name, value, context);
      if (pieces) addVariable(child, draft, context, { name, pieces });
    });

/** A variable that the file takes from the shell is an input. */
const environment = environmentWith((key, name, value, { conversion }) =>
  value === undefined
    ? [{ kind: 'variable', variable: name, fallback: undefined, isRequired: isSecretName(name) }]
    : conversion.pieces(value, key.part),
);

/** Adds a variable to a part. @throws Refused */
export function addVariable(
  key: Key,
  draft: PartDraft,
  { conversion }: ServiceContext,
  { name, pieces }: { readonly name: string; readonly pieces: readonly Piece[] },
): void {
  if (!isVariableName(name)) throw new Refused('is not the name of a variable');
  setVariable(draft, name, withPlaceholders(conversion, pieces));
  const value = pieces.join('');
  if (isSecretText(name, value) && !hasVariable(pieces)) conversion.literals.push({ key, name, value });
  else fateOf(conversion, key, pieces);
}

/** The maximum number of variables, ports and mounts of a part. */
const MAX_LIST = 256;
const MAX_FILES = 32;
const MAX_TMPFS = 8;

/** @throws Refused if nothing can be added */
function limit(list: readonly unknown[] | undefined, what: string): void {
  if ((list ?? []).length >= MAX_LIST) throw new Refused(`is more than the ${MAX_LIST} ${what} that a part can have`);
}

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const MAX_VARIABLE_NAME = 256;

export const isVariableName = (name: string): boolean => VARIABLE_NAME.test(name) && name.length <= MAX_VARIABLE_NAME;

/** The path of a working directory. @throws Refused */
export function folderOf(path: string): string {
  if (!/^\/[^\n\r\t]*$/.test(path)) throw new Refused('must be an absolute path');
  return path;
}

/** Sets a variable of a part. The last of several values applies. @throws Refused if it has too many */
export function setVariable(draft: PartDraft, name: string, value: string): void {
  limit(draft.env, 'variables');
  draft.env = [...(draft.env ?? []).filter((other) => other.name !== name), { name, value }];
}

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
    const pieces = given.map((word) => conversion.pieces(word, key.part));
    draft[member] = pieces.map((word) => withPlaceholders(conversion, word));
    fateOf(conversion, key, pieces.flat());
  };

const image: Rule = (key, draft, { conversion }) => {
  const pieces = conversion.pieces(text(key), key.part);
  Object.assign(draft, imageOf(withDefaults(pieces)));
  if (draft.image_tag === undefined && draft.image_digest === undefined) conversion.harmless(key, 'latest');
  else if (hasVariable(pieces)) conversion.harmless(key, 'image_variable');
  else conversion.same(key);
};

const ports: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    limit(draft.ports, 'ports');
    draft.ports = [...(draft.ports ?? []), ...publishedPorts(context.conversion, child)];
  });

const expose: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    limit(draft.ports, 'ports');
    const present: readonly PartPort[] = draft.ports ?? [];
    const added = exposedPorts(context.conversion, child);
    const isNew = (port: PartPort) =>
      !present.some(
        ({ containerPort, protocol }) => containerPort === port.containerPort && protocol === port.protocol,
      );
    draft.ports = [...present, ...added.filter(isNew)];
  });

const volumes: Rule = (key, draft, context) =>
  each(key, context, (child) => addMounted(draft, mountedBy(context.conversion, child, context.volumes)));

/** Adds what an entry of `volumes` has become to a part. @throws Refused */
export function addMounted(draft: PartDraft, { mount, file, tmpfs }: Mounted): void {
  const mounts: readonly PartMount[] = draft.volume_mounts ?? [];
  const files: readonly PartFile[] = draft.files ?? [];
  limit(mounts, 'volumes');
  if (mount && mounts.some(({ mountPath }) => mountPath === mount.mountPath))
    throw new Refused(`mounts a second volume at ${mount.mountPath}`);
  if (mount) draft.volume_mounts = [...mounts, mount];
  if (file) draft.files = [...files, file];
  if (tmpfs) draft.tmpfs = [...(draft.tmpfs ?? []), tmpfs];
  if ((draft.files ?? []).length > MAX_FILES) throw new Refused(`is more than the ${MAX_FILES} files of a part`);
  if ((draft.tmpfs ?? []).length > MAX_TMPFS)
    throw new Refused(`is more than the ${MAX_TMPFS} temporary file systems of a part`);
}

const temporary: Rule = (key, draft, context) =>
  each(key, context, (child) => {
    const [path = '', options = ''] = plain(child, context).split(':');
    const size = memoryOf(
      options
        .split(',')
        .find((option) => option.startsWith('size='))
        ?.slice(5) ?? '',
    );
    addMounted(draft, { tmpfs: temporaryAt(context.conversion, child, path, size) });
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
    const condition = memberText(child.tree, 'condition') || 'service_started';
    const until = Object.hasOwn(CONDITIONS, condition) ? CONDITIONS[condition] : undefined;
    if (until === undefined) throw new Refused('has a condition that is not known');
    const part = partOf(service);
    draft.needs = [...(draft.needs ?? []).filter((need) => need.part !== part), { part, until }];
    refuseUnknown(conversion, child, ['condition', 'restart', 'required']);
    if (memberText(child.tree, 'required') === 'false') conversion.note(child, 'The application always has this part.');
    else conversion.same(child);
  });

const restart: Rule = (key, _, { conversion, isJob }) => {
  const policy = text(key);
  const endsOnce = policy === 'no' || policy.startsWith('on-failure');
  if (isJob && !endsOnce) throw new Refused('is always started again, and another service waits until it has finished');
  if (policy === 'always' || (policy === 'no' && isJob)) return conversion.same(key);
  if (policy !== 'no') return conversion.harmless(key, 'restart');
  conversion.note(key, 'The fleet starts the program again when it ends. If it should run once, make the part a job.');
};

const healthcheck: Rule = (key, draft, context) => {
  const isDisabled = memberText(key.tree, 'disable') === 'true';
  nested(key, draft, context, {
    interval: drop('health_timing'),
    timeout: drop('health_timing'),
    retries: drop('health_timing'),
    start_period: drop('health_timing'),
    start_interval: drop('health_timing'),
    disable: same,
    test: (child, _, { conversion }) => {
      if (isDisabled) return conversion.same(child);
      const { value, note: remark, added = new Map() } = healthCheckOf(conversion, child.part, child.tree, draft);
      for (const [name, text] of added) setVariable(draft, name, text);
      if (value !== undefined) setVariable(draft, 'SVC_HEALTH_CHECK', value);
      if (remark !== undefined) conversion.note(child, remark);
      else if (added.size > 0) conversion.harmless(child, 'health_variable');
      else conversion.same(child);
    },
  });
};

/** The ids of root are those of every image. */
const idsOf = (user: string): string => user.replace(/^root(?=$|:)/, '0').replace(/(?<=:)root$/, '0');

const user: Rule = (key, draft, context) => {
  const given = idsOf(plain(key, context));
  if (!/^\d+(?::\d+)?$/.test(given))
    throw new Refused('names a user, whose id a fleet cannot look up: write the ids, such as 1000:1000');
  draft.run_as = given;
  settled(key, context);
};

const amount =
  (member: 'memory_limit' | 'memory_request'): Rule =>
  (key, draft, context) => {
    const quantity = memoryOf(plain(key, context));
    if (quantity === undefined) throw new Refused('is not an amount of memory such as 512m');
    draft[member] = quantity;
    settled(key, context);
  };

const cpus =
  (member: 'cpu_limit' | 'cpu_request'): Rule =>
  (key, draft, context) => {
    const given = Number(plain(key, context));
    if (!(given > 0)) throw new Refused('is not a number of CPUs');
    draft[member] = `${Math.ceil(given * 1000)}m`;
    settled(key, context);
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
  replicas: (key, _, context) =>
    plain(key, context) === '1'
      ? settled(key, context)
      : context.conversion.note(key, 'The operator chooses the number of replicas. It is 1 at first.'),
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
    // Also an alias that no value contains: an image can contain it.
    if (aliases && textsIn(aliases).some((alias) => alias !== child.part))
      context.conversion.note(
        child,
        'Other parts find this one by the name of the part only, and not by the other names.',
      );
    else context.conversion.harmless(child, 'default_network');
  });

const networkMode: Rule = (key, _, context) => {
  const mode = plain(key, context);
  if (mode === 'bridge') return context.conversion.harmless(key, 'default_network');
  context.conversion.refuse(key, mode === 'host' ? ROOT : NAMESPACE);
};

const init: Rule = (key, draft, context) => {
  if (plain(key, context) === 'false') setVariable(draft, 'SVC_INIT', 'false');
  settled(key, context);
};

const shm: Rule = (key, draft, context) => {
  const size = memoryOf(plain(key, context));
  if (size === undefined) throw new Refused('is not an amount of memory such as 512m');
  setVariable(draft, 'SVC_SHM_SIZE', size);
  settled(key, context);
};

const links: Rule = (key, _, context) =>
  each(key, context, (child) => {
    const [service = '', alias = service] = text(child).split(':');
    context.partOf(service);
    if (alias === service) context.conversion.harmless(child, 'default_network');
    else
      context.conversion.note(child, `Other parts are found by their names. Replace ${alias} in values by ${service}.`);
  });

const platform: Rule = (key, draft, context) => {
  const [os, architecture, ...variant] = plain(key, context).split('/');
  if (os !== 'linux' || architecture === undefined) throw new Refused('is not a platform such as linux/amd64');
  draft.node_selector = { 'kubernetes.io/arch': architecture };
  if (variant.length > 0) context.conversion.note(key, 'The target must have this variant of the architecture.');
  else settled(key, context);
};

const securityOptions: Rule = (key, _, context) =>
  each(key, context, (child) => {
    if (!/^no-new-privileges(?:[:=]true)?$/.test(plain(child, context)))
      throw new Refused('weakens the isolation of the container');
    context.conversion.harmless(child, 'engine_default');
  });

/** The rules of the members of a service. */
export const SERVICE = {
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
  working_dir: (key, draft, context) => {
    draft.working_dir = folderOf(plain(key, context));
    settled(key, context);
  },
  read_only: (key, draft, context) => {
    if (plain(key, context) === 'true') draft.read_only_root = true;
    settled(key, context);
  },
  stop_grace_period: (key, draft, context) => {
    const seconds = secondsOf(plain(key, context)) ?? 0;
    if (seconds < 1 || seconds > 600) throw new Refused('is not a time from 1s to 10m, such as 1m30s');
    draft.stop_grace_seconds = seconds;
    settled(key, context);
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
  links,
  profiles: note('The application always has this part. Remove it if it is not needed.'),
  platform,
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
} as const satisfies Readonly<Record<string, Rule>>;
