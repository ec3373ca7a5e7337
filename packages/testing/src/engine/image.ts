import { copyFile, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { programAt } from './at-hand.ts';
import { runProgram } from './program.ts';

const IMAGE = 'localhost/svc-test/busybox:1';
const PROGRAMS = [
  'sh',
  'cat',
  'echo',
  'env',
  'httpd',
  'kill',
  'ls',
  'mkdir',
  'pidof',
  'rm',
  'sleep',
  'tail',
  'timeout',
  'touch',
  'wget',
];

/** Adds Busybox and the folder /tmp to a file system. */
export async function addBusybox(root: string): Promise<void> {
  const bin = path.join(root, 'bin');
  await mkdir(bin, { recursive: true });
  await mkdir(path.join(root, 'tmp'));
  await copyFile(programAt('busybox') ?? '', path.join(bin, 'busybox'));
  for (const name of PROGRAMS) await symlink('busybox', path.join(bin, name));
}

/** Creates a tar archive of a file system beside its folder. @returns its path */
export async function tarOf(root: string): Promise<string> {
  await runProgram('tar', ['-C', root, '-cf', `${root}.tar`, '.'], { cwd: root });
  return `${root}.tar`;
}

/** Creates a tar archive of a file system that contains only Busybox. */
export async function busyboxTar(folder: string): Promise<string> {
  await addBusybox(folder);
  return tarOf(folder);
}

/** Imports an image without a registry. @returns its reference */
export async function importBusybox(byHand: (...args: readonly string[]) => Promise<string>, folder: string) {
  await byHand('import', await busyboxTar(folder), IMAGE);
  return IMAGE;
}
