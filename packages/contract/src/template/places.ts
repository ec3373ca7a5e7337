import { posix } from 'node:path';
import { z } from 'zod';
import type { FieldError } from '../shared/field-errors.ts';
import { line, text } from '../shared/wire.ts';
import { amountOf } from './quantity.ts';

// What a container has at a path: mounts of volumes, temporary file systems, and files.

/** The largest content of a file, and of all files of a workload together, in bytes. */
const MAX_FILE = 64 * 1024;
const MAX_FILES = 256 * 1024;

const bytesOf = (content: string): number => new TextEncoder().encode(content).length;

/**
 * A path in normal form, so that equal paths are equal texts. The directories of the kernel are no place for files: engines mount them
 * when the container starts.
 */
const place = line(255).regex(
  /^(?!\/(?:dev|proc|sys)(?:\/|$))(?:\/(?!\.\.?(?:\/|$))[^/,:"]+)+$/,
  'must be an absolute path without . and .. as parts, without a comma, a colon or a quotation mark, without a slash at its end, and not in /dev, /proc or /sys',
);

/** A file that a container has before its program starts. Its content is no secret. */
const workloadFile = z
  .strictObject({
    path: place,
    content: text(MAX_FILE).refine(
      (content) => bytesOf(content) <= MAX_FILE,
      'must have at most 64 KiB, which is 65536 bytes in UTF-8',
    ),
    mode: z.enum(['0444', '0555'], 'must be 0444, or 0555 for a program').default('0444'),
  })
  .meta({
    id: 'WorkloadFile',
    description: 'A text file that root owns and everybody can read',
    examples: [{ path: '/etc/server/server.conf', content: 'port = 8080\n', mode: '0444' }],
  });

export const workloadFiles = z
  .array(workloadFile)
  .max(32, 'must have at most 32 entries')
  .refine(
    (files) => files.reduce((sum, { content }) => sum + bytesOf(content), 0) <= MAX_FILES,
    'must have at most 256 KiB together, which is 262144 bytes in UTF-8',
  );

/** The size of a temporary directory that states none. */
export const DEFAULT_TEMPORARY_SIZE = '64Mi';

/** A directory in memory, which is empty when the container starts. */
const temporaryFileSystem = z
  .strictObject({
    path: place,
    size: z
      .string()
      .regex(/^(?:[1-9]\d{0,5}Mi|[1-9]\d{0,2}Gi)$/, 'must be a size such as 64Mi or 1Gi, of at most 999999Mi or 999Gi')
      .default(DEFAULT_TEMPORARY_SIZE),
  })
  .meta({ id: 'TemporaryFileSystem', examples: [{ path: '/tmp', size: '64Mi' }] });

export const temporaryFileSystems = z.array(temporaryFileSystem).max(8, 'must have at most 8 entries');

/** The members that say what a container has at a path. */
export interface Places {
  readonly volume_mounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly tmpfs: readonly { readonly path: string; readonly size: string }[];
  readonly files: readonly { readonly path: string }[];
  readonly memory_request: string;
  readonly memory_limit: string;
}

interface PlaceConflict extends FieldError {
  readonly members: readonly (keyof Places)[];
}

const normalized = (path: string): string => posix.normalize(path).replace(/(.)\/$/, '$1');

/** The mounts whose path an earlier mount has, also if it is written differently. */
export function repeatedPaths({
  volume_mounts,
}: {
  readonly volume_mounts: readonly { readonly mountPath: string }[];
}) {
  const paths = volume_mounts.map(({ mountPath }) => normalized(mountPath));
  return paths.flatMap((path, index): FieldError[] =>
    paths.indexOf(path) < index
      ? [{ path: `volume_mounts.${index}.mountPath`, message: 'is already the path of another mount' }]
      : [],
  );
}

/** The places that do not fit together, except repeated mounts. */
export const placeConflicts = (places: Places): PlaceConflict[] => [
  ...repeatedTemporary(places),
  ...hiddenFiles(places),
  ...temporaryBeyondMemory(places),
];

function repeatedTemporary({ volume_mounts, tmpfs }: Places): PlaceConflict[] {
  const mounts = volume_mounts.map(({ mountPath }) => normalized(mountPath));
  const paths = tmpfs.map(({ path }) => path);
  return paths.flatMap((path, index): PlaceConflict[] =>
    mounts.includes(path) || paths.indexOf(path) < index
      ? [
          {
            path: `tmpfs.${index}.path`,
            message: 'is already the path of another mount',
            members: ['volume_mounts', 'tmpfs'],
          },
        ]
      : [],
  );
}

const contains = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer === '/' ? outer : `${outer}/`);

/** A mount hides what is below it, or is not there yet when the files are placed, and a file is no directory. */
function hiddenFiles({ volume_mounts, tmpfs, files }: Places): PlaceConflict[] {
  const mounts = [
    ...volume_mounts.map(({ name, mountPath }) => ({ path: normalized(mountPath), what: `the volume ${name}` })),
    ...tmpfs.map(({ path }) => ({ path, what: `the temporary file system ${path}` })),
  ];
  return files.flatMap(({ path }, index): PlaceConflict[] => {
    const earlier = files.slice(0, index).map((file) => ({ path: file.path, what: `the file ${file.path}` }));
    const others = [...mounts, ...earlier];
    const around = others.find((other) => contains(other.path, path));
    const within = others.find((other) => contains(path, other.path));
    const message = around
      ? `must not be in ${around.what}`
      : within && `must not be a directory, because it contains ${within.what}`;
    if (message === undefined) return [];
    return [{ path: `files.${index}.path`, message, members: ['volume_mounts', 'tmpfs', 'files'] }];
  });
}

function temporaryBeyondMemory({ tmpfs, memory_request, memory_limit }: Places): PlaceConflict[] {
  const amount = (quantity: string) => amountOf(quantity) ?? 0;
  const memory = [memory_limit, memory_request].find((quantity) => amount(quantity) > 0);
  const total = tmpfs.reduce((sum, { size }) => sum + amount(size), 0);
  if (memory === undefined || total <= amount(memory)) return [];
  const message = `must together not be larger than the memory of the container, which is ${memory}, because their content counts towards it`;
  return [{ path: 'tmpfs', message, members: ['tmpfs', 'memory_request', 'memory_limit'] }];
}
