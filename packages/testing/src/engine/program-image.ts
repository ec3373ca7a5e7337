import { chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { programAt } from './at-hand.ts';
import { addBusybox, tarOf } from './image.ts';
import { runProgram } from './program.ts';
import type { TestEngine } from './start.ts';

/** An image of programs that are installed on this machine. */
export interface ProgramImage {
  /** Such as `docker.io/library/postgres:14.5`. */
  readonly reference: string;
  /** Paths of programs. Their libraries are added, and Busybox as the shell. */
  readonly programs: readonly string[];
  /** Paths of folders and files that the programs read. */
  readonly data?: readonly string[];
  /** Texts of further files, which can be run, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
  /** Empty folders that belong to the user. */
  readonly folders?: readonly string[];
  /** The user that runs the program. Default: root. */
  readonly user?: { readonly name: string; readonly id: number };
  readonly entrypoint: readonly string[];
  readonly command?: readonly string[];
}

/** The libraries of a program as `ldd` lists them, with the one that loads them. */
async function librariesOf(program: string): Promise<string[]> {
  const lines = (await runProgram('ldd', [program], { cwd: '/' })).split('\n');
  return lines.flatMap((line) => line.split(/\s/).find((word) => word.startsWith('/')) ?? []);
}

/** Imports an image without a registry. It requires root. */
export async function importPrograms({ byHand }: Pick<TestEngine, 'byHand'>, image: ProgramImage): Promise<void> {
  const { programs, data = [], files = {}, folders = [], user, entrypoint, command = [] } = image;
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-image-'));
  const root = path.join(folder, 'root');
  const inside = (file: string) => path.join(root, file);
  const libraries = (
    await Promise.all([programAt('busybox') ?? '', ...programs].map((file) => librariesOf(file).catch(() => [])))
  ).flat();
  for (const file of new Set([...programs, ...data, ...libraries]))
    await cp(file, inside(file), { recursive: true, dereference: true });
  await addBusybox(root);
  await chmod(inside('tmp'), 0o1777);
  const users = ['root:x:0:0::/:/bin/sh', ...(user ? [`${user.name}:x:${user.id}:${user.id}::/:/bin/sh`] : [])];
  const texts = { 'etc/passwd': `${users.join('\n')}\n`, ...files };
  for (const [file, text] of Object.entries(texts)) {
    await mkdir(path.dirname(inside(file)), { recursive: true });
    await writeFile(inside(file), text, { mode: 0o755 });
  }
  for (const each of folders) {
    await mkdir(inside(each), { recursive: true });
    await chmod(inside(each), 0o700);
    await chown(inside(each), user?.id ?? 0, user?.id ?? 0);
  }
  const changes = [
    `ENTRYPOINT ${JSON.stringify(entrypoint)}`,
    `CMD ${JSON.stringify(command)}`,
    `ENV PATH=${[...new Set(programs.map((file) => path.dirname(file))), '/bin'].join(':')}`,
    ...(user ? [`USER ${user.name}`] : []),
  ];
  await byHand('import', ...changes.flatMap((change) => ['--change', change]), await tarOf(root), image.reference);
  await rm(folder, { recursive: true });
}
