import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe } from '@jest/globals';
import type { OwnPostgres } from './own-postgres.ts';

/**
 * Mounts a small disk on a folder.
 * @returns a function that unmounts it; undefined if mounting is not permitted
 */
export function mountDisk(folder: string, size: string): (() => void) | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0755`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return () => execFileSync('umount', [folder]);
}

/** Runs `work` while the disk of a PostgreSQL server is full. */
export async function whileFull<T>(disk: string, postgres: OwnPostgres, work: () => Promise<T>): Promise<T> {
  await postgres.makeRoomInLog();
  const release = fill(disk);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Fills the free space of a disk. @returns a function that releases it */
function fill(disk: string): () => void {
  const ballast = path.join(disk, 'ballast');
  const file = fs.openSync(ballast, 'w');
  const block = Buffer.alloc(1024 * 1024);
  for (let size = block.length; size >= 512; ) {
    try {
      fs.writeSync(file, block, 0, size);
    } catch {
      size /= 2; // no space for a block of this size
    }
  }
  fs.closeSync(file);
  return () => fs.rmSync(ballast);
}

/**
 * Tests that need their own disk. Without one, they are skipped, with the reason in their title.
 */
export function describeOnDisk(title: string, disk: string | undefined, tests: (disk: string) => void): void {
  if (disk !== undefined) describe(title, () => tests(disk));
  else describe.skip(`${title} (skipped: mounting a tmpfs is not permitted)`, () => tests(''));
}
