import { posix } from 'node:path';
import type { PartFile, PartMount } from '../application.ts';
import { type Conversion, type Key, Refused } from './context.ts';
import { refuseUnknown } from './ports.ts';
import type { MapNode, Tree } from './tree.ts';
import { piecesIn, withDefaults } from './variables.ts';

/** What an entry of `volumes` becomes. */
export interface Mounted {
  readonly mount?: PartMount;
  readonly file?: PartFile;
  readonly tmpfs?: string;
}

interface Requested {
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly isReadOnly: boolean;
}

/** Folders of the machine that are not data of an application. */
const SYSTEM = [
  '/proc',
  '/sys',
  '/dev',
  '/etc',
  '/var/run',
  '/run',
  '/var/lib/docker',
  '/boot',
  '/usr',
  '/bin',
  '/lib',
];
const TIME_ZONE = ['/etc/localtime', '/etc/timezone'];

const textOf = (tree: Tree | undefined): string => (tree?.kind === 'text' ? withDefaults(piecesIn(tree.text)) : '');

function shortForm(text: string): Requested {
  const [first = '', second, ...options] = text.split(':');
  if (options.length > 1) throw new Refused('is not a volume in a form that Compose documents');
  const isReadOnly = options.join().split(',').includes('ro');
  if (second === undefined) return { type: 'volume', source: '', target: first, isReadOnly };
  return { type: isPath(first) ? 'bind' : 'volume', source: first, target: second, isReadOnly };
}

const isPath = (source: string): boolean => /^[./~]/.test(source);

function longForm({ entries }: MapNode): Requested {
  const text = (name: string) => textOf(entries.get(name));
  return {
    type: text('type') || 'volume',
    source: text('source'),
    target: text('target'),
    isReadOnly: text('read_only') === 'true',
  };
}

const LONG = ['type', 'source', 'target', 'read_only', 'bind', 'volume', 'tmpfs', 'consistency'];

/** A volume of the file, with the number of services that mount it. */
export interface Volumes {
  /** The content of the files beside, by their paths; undefined if they are not given. */
  readonly files: ReadonlyMap<string, string> | undefined;
  readonly isShared: (name: string) => boolean;
}

/** What an entry of `volumes` of a service becomes. @throws Refused */
export function mountedBy(conversion: Conversion, key: Key, volumes: Volumes): Mounted {
  const { tree } = key;
  if (tree.kind === 'list') throw new Refused('must be a text or a map');
  const requested = tree.kind === 'text' ? shortForm(textOf(tree)) : longForm(tree);
  if (tree.kind === 'map') refuseUnknown(conversion, key, LONG);
  if (!requested.target.startsWith('/')) throw new Refused('must have an absolute path in the container');
  if (requested.type === 'tmpfs') {
    conversion.same(key);
    return { tmpfs: requested.target };
  }
  if (requested.type === 'bind') return bound(conversion, key, requested, volumes);
  if (requested.type !== 'volume') throw new Refused(`has the type ${requested.type}`);
  const name = volumeNameOf(requested.source === '' ? requested.target : requested.source);
  conversion.harmless(key, 'volume');
  return { mount: mountOf(name, requested, volumes.isShared(requested.source)) };
}

const isEngineSocket = (file: string): boolean =>
  file.endsWith('.sock') && ['docker', 'podman', 'containerd'].some((engine) => file.includes(engine));

function bound(conversion: Conversion, key: Key, requested: Requested, { files }: Volumes): Mounted {
  const { source, target } = requested;
  if (TIME_ZONE.includes(source)) {
    conversion.harmless(key, 'time_zone');
    return {};
  }
  if (isEngineSocket(posix.basename(source)))
    throw new Refused('mounts the socket of the engine, which gives root on the host');
  const path = posix.normalize(source);
  if (path === '/' || SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`))) {
    throw new Refused('mounts a system folder of the host');
  }
  if (source.startsWith('.') && isFile(path)) {
    const content = files?.get(path);
    if (files === undefined) throw new Refused('mounts a file beside this one: convert it with its files');
    if (content === undefined)
      throw new Refused(`mounts the file ${path}, which is not among the files beside this one`);
    conversion.same(key);
    return { file: { path: target, content } };
  }
  conversion.note(
    key,
    'A folder of the host becomes a new, empty volume. Copy its files into the volume if the program needs them.',
  );
  return { mount: mountOf(volumeNameOf(path), requested, false) };
}

/** The last segment of the path of a file has an extension. */
const isFile = (path: string): boolean => /^[^.].*\.\w+$/.test(posix.basename(path));

const mountOf = (name: string, { target, isReadOnly }: Requested, isShared: boolean): PartMount => ({
  name,
  mountPath: target,
  ...(isReadOnly && { read_only: true }),
  ...(isShared && { shared: true }),
});

/** A DNS label for a volume. */
const volumeNameOf = (source: string): string =>
  source
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 40)
    .replace(/-$/, '') || 'data';
