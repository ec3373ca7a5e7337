import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe } from '@jest/globals';
import type { OwnPostgres } from './own-postgres.ts';

/** Mounts a small disk at a folder. @returns what takes it away; undefined where mounting isn't permitted */
export function mountDisk(folder: string, size: string): (() => void) | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0755`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return () => execFileSync('umount', [folder]);
}

/** Runs `work` while the disk of a PostgreSQL is full. */
export async function whileFull<T>(disk: string, postgres: OwnPostgres, work: () => Promise<T>): Promise<T> {
  await postgres.makeRoomInLog();
  const free = fill(disk);
  try {
    return await work();
  } finally {
    free();
  }
}

/** Takes all the space that is left. @returns what gives it back */
function fill(disk: string): () => void {
  const ballast = path.join(disk, 'ballast');
  const file = fs.openSync(ballast, 'w');
  const block = Buffer.alloc(1024 * 1024);
  for (let size = block.length; size >= 512; ) {
    try {
      fs.writeSync(file, block, 0, size);
    } catch {
      size /= 2; // no room for a block of this size
    }
  }
  fs.closeSync(file);
  return () => fs.rmSync(ballast);
}

/** Tests that need a disk of their own; without one they are skipped, and say so. */
export function describeOnDisk(title: string, disk: string | undefined, tests: (disk: string) => void): void {
  if (disk !== undefined) describe(title, () => tests(disk));
  else describe.skip(`${title} (SKIPPED: mounting a tmpfs is not permitted here)`, () => tests(''));
}
