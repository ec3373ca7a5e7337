import type { ApplicationPart, PartFile, PartMount } from '../application.ts';
import type { HarmlessReason } from '../report.ts';
import { type Conversion, type Key, type Piece, Refused } from './context.ts';
import { refuseUnknown } from './ports.ts';
import type { Tree } from './tree.ts';
import { escaped, fieldsOf, withDefaults } from './variables.ts';
import { memoryOf } from './words.ts';

/** What an entry of `volumes` becomes. */
export interface Mounted {
  readonly mount?: PartMount;
  readonly file?: PartFile;
  readonly tmpfs?: { readonly path: string; readonly size: string };
}

export interface Requested {
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

/** The path without `.` and `..`, and without a slash at its end. */
function normalized(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..' && segments.length > 0 && segments.at(-1) !== '..') segments.pop();
    else if (segment !== '..' || !path.startsWith('/')) segments.push(segment);
  }
  return `${path.startsWith('/') ? '/' : ''}${segments.join('/')}`;
}

/** A piece of a source: a variable without a default is a folder of the host. */
const sourceText = (piece: Piece): string =>
  typeof piece !== 'string' && piece.kind === 'variable' && piece.fallback === undefined
    ? `/${piece.variable}`
    : withDefaults([piece]);

function shortForm(pieces: readonly Piece[]): Requested {
  const [first = [], second, ...options] = fieldsOf(pieces);
  if (options.length > 1) throw new Refused('is not a volume in a form that Compose documents');
  const isReadOnly = withDefaults(options.flat()).split(',').includes('ro');
  if (second === undefined) return { type: 'volume', source: '', target: withDefaults(first), isReadOnly };
  const source = first.map(sourceText).join('');
  return { type: isPath(source) ? 'bind' : 'volume', source, target: withDefaults(second), isReadOnly };
}

const isPath = (source: string): boolean => /^[./~]/.test(source);

const LONG = ['type', 'source', 'target', 'read_only', 'bind', 'volume', 'tmpfs', 'consistency'];

/** What a conversion knows about volumes. */
export interface Volumes {
  /** The content of the files beside, by their paths; undefined if they are not given. */
  readonly files: ReadonlyMap<string, string> | undefined;
  /** Whether several services mount the volume or folder. */
  readonly isShared: (source: string) => boolean;
  /** Why an empty volume instead of a folder beside the file is no loss; undefined: a person must copy its content. */
  readonly folderBeside?: HarmlessReason;
  /** Whether the long form has `content` and `is_directory`, which state what the mounted file or folder is. */
  readonly hasContent?: boolean;
}

/** The volume or folder that an entry of `volumes` mounts; '' if none has a name. */
export function sourceOf(conversion: Conversion, part: string, item: Tree): string {
  try {
    const { type, source } =
      item.kind === 'text' ? shortForm(conversion.pieces(item.text, part)) : longForm(conversion, part, item);
    return type === 'bind' ? normalized(source) : source;
  } catch (error) {
    if (error instanceof Refused) return ''; // it is refused where it is converted
    throw error;
  }
}

function longForm(conversion: Conversion, part: string | null, tree: Tree): Requested {
  const text = (name: string) => textIn(conversion, part, tree, name);
  return {
    type: text('type') || 'volume',
    source: text('source'),
    target: text('target'),
    isReadOnly: text('read_only') === 'true',
  };
}

/** The text of a member; '' if it is missing. */
function textIn(conversion: Conversion, part: string | null, tree: Tree | undefined, name: string): string {
  const value = tree?.kind === 'map' ? tree.entries.get(name) : undefined;
  return value?.kind === 'text' ? conversion.pieces(value.text, part).map(sourceText).join('') : '';
}

const IS_FOLDER = ['is_directory', 'isDirectory'];

/** What an entry of `volumes` of a service becomes. @throws Refused */
export function mountedBy(conversion: Conversion, key: Key, volumes: Volumes): Mounted {
  const { tree, part } = key;
  if (tree.kind === 'list') throw new Refused('must be a text or a map');
  if (tree.kind === 'text') return mountedFrom(conversion, key, shortForm(conversion.pieces(tree.text, part)), volumes);
  refuseUnknown(conversion, key, volumes.hasContent ? [...LONG, 'content', 'mode', ...IS_FOLDER] : LONG);
  for (const [name, known] of [
    ['volume', ['nocopy']],
    ['tmpfs', ['size', 'mode']],
  ] as const) {
    const options = tree.entries.get(name);
    if (options) refuseUnknown(conversion, { ...key, path: [...key.path, name], tree: options }, known);
  }
  const requested = longForm(conversion, part, tree);
  const content = volumes.hasContent ? tree.entries.get('content') : undefined;
  if (content?.kind === 'text') {
    if (!requested.target.startsWith('/')) throw new Refused('must have an absolute path in the container');
    const file = fileAt(requested.target, content.text, /[1357]/.test(textIn(conversion, part, tree, 'mode')));
    conversion.same(key);
    return { file };
  }
  const isFolder =
    volumes.hasContent === true && IS_FOLDER.some((name) => textIn(conversion, part, tree, name) === 'true');
  const size = memoryOf(textIn(conversion, part, tree.entries.get('tmpfs'), 'size'));
  return mountedFrom(conversion, key, requested, volumes, { isFolder, ...(size !== undefined && { size }) });
}

interface Stated {
  /** Whether the file states that it is a folder. */
  readonly isFolder?: boolean;
  /** The size of a temporary file system. */
  readonly size?: string;
}

/** What a mount becomes. @throws Refused */
export function mountedFrom(
  conversion: Conversion,
  key: Key,
  requested: Requested,
  volumes: Volumes,
  stated: Stated = {},
): Mounted {
  const { type, source, target } = requested;
  if (!target.startsWith('/')) throw new Refused('must have an absolute path in the container');
  if (/[,:"]/.test(target)) throw new Refused('has a path with a comma, a colon or a quotation mark');
  if (type === 'tmpfs') return { tmpfs: temporaryAt(conversion, key, target, stated.size) };
  if (type === 'bind') return bound(conversion, key, requested, volumes, stated);
  if (type !== 'volume') throw new Refused(`has the type ${type}`);
  const own = source === '' ? `${key.part ?? ''}:${target}` : source;
  conversion.harmless(key, 'volume');
  return { mount: mountOf(conversion.volume(own, source === '' ? target : source), requested, volumes.isShared(own)) };
}

const SIZE = '64Mi';

/** A temporary file system. Without a size in the file, it has a fixed one. */
export function temporaryAt(
  conversion: Conversion,
  key: Key,
  path: string,
  size: string | undefined,
): { readonly path: string; readonly size: string } {
  if (!path.startsWith('/')) throw new Refused('must have an absolute path in the container');
  if (size === undefined)
    conversion.note(key, `The file states no size. The application has ${SIZE} there, in memory.`);
  else conversion.same(key);
  return { path: normalized(path), size: size ?? SIZE };
}

const MAX_CONTENT = 65_536;

/** A file of a part. One that begins with the program that runs it is a program. @throws Refused */
function fileAt(path: string, content: string, isProgram = false): PartFile {
  if (new TextEncoder().encode(content).length > MAX_CONTENT)
    throw new Refused(`has a file of more than ${MAX_CONTENT} bytes`);
  return {
    path: normalized(path),
    content: escaped(content),
    ...((isProgram || content.startsWith('#!')) && { mode: '0555' }),
  };
}

/** Whether a path is that of the socket of an engine. */
function isSocket(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.endsWith('.sock') && /docker|podman|containerd/.test(name);
}

function bound(
  conversion: Conversion,
  key: Key,
  requested: Requested,
  { files, folderBeside, isShared }: Volumes,
  { isFolder = false }: Stated,
): Mounted {
  const { source, target } = requested;
  if (TIME_ZONE.includes(source)) {
    conversion.harmless(key, 'time_zone');
    return {};
  }
  if (isSocket(source) || isSocket(target))
    throw new Refused('mounts the socket of the engine, which gives root on the host');
  const path = normalized(source);
  if (path === '/' || SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`)))
    throw new Refused('mounts a system folder of the host');
  const isBeside = source.startsWith('.');
  const content = isBeside ? files?.get(path) : undefined;
  if (content !== undefined) {
    const file = fileAt(target, content);
    conversion.same(key);
    return { file };
  }
  if (!isFolder && isFile(path)) {
    if (!isBeside) throw new Refused('mounts a file of the host');
    if (files === undefined) throw new Refused('mounts a file beside this one: convert it with its files');
    throw new Refused(`mounts the file ${path}, which is not among the files beside this one`);
  }
  if (isBeside && folderBeside !== undefined) conversion.harmless(key, folderBeside);
  else
    conversion.note(
      key,
      'A folder of the host becomes a new, empty volume. Copy its files into the volume if the program needs them.',
    );
  return { mount: mountOf(conversion.volume(path, path), requested, isShared(path)) };
}

/** Files whose names have no extension. */
const FILES = new Set(['Caddyfile', 'Corefile', 'Dockerfile', 'crontab', 'hosts', 'passwd', '.env', '.htpasswd']);

/** Whether the last segment of a path is the name of a file: it has an extension other than that of a folder. */
function isFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return FILES.has(name) || (/^[^.].*\.[A-Za-z]\w*$/.test(name) && !name.endsWith('.d'));
}

const mountOf = (name: string, { target, isReadOnly }: Requested, isShared: boolean): PartMount => ({
  name,
  mountPath: normalized(target) || target,
  ...(isReadOnly && { read_only: true }),
  ...(isShared && { shared: true }),
});

/** Why the places of a part do not fit together; undefined: they do. */
export function conflictOfPlaces({
  volume_mounts = [],
  tmpfs = [],
  files = [],
}: Pick<ApplicationPart, 'volume_mounts' | 'tmpfs' | 'files'>): string | undefined {
  const mounts = [...volume_mounts.map(({ mountPath }) => mountPath), ...tmpfs.map(({ path }) => path)];
  const repeated = mounts.find((path, index) => mounts.indexOf(path) < index);
  if (repeated !== undefined) return `It mounts two things at ${repeated}.`;
  for (const { path } of files) {
    const around = mounts.find((mount) => path === mount || path.startsWith(`${mount}/`));
    if (around !== undefined) return `The volume at ${around} hides the file ${path}. Mount one of them elsewhere.`;
  }
  return undefined;
}
