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
  'sleep',
  'tail',
  'timeout',
  'touch',
  'wget',
];

/** Creates a tar archive of a file system that contains only Busybox. */
export async function busyboxTar(folder: string): Promise<string> {
  const bin = path.join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await mkdir(path.join(folder, 'tmp'));
  await copyFile(programAt('busybox') ?? '', path.join(bin, 'busybox'));
  for (const name of PROGRAMS) await symlink('busybox', path.join(bin, name));
  await runProgram('tar', ['-C', folder, '-cf', `${folder}.tar`, '.'], { cwd: folder });
  return `${folder}.tar`;
}

/** Imports an image without a registry. @returns its reference */
export async function importBusybox(byHand: (...args: readonly string[]) => Promise<string>, folder: string) {
  await byHand('import', await busyboxTar(folder), IMAGE);
  return IMAGE;
}
