import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { programAt } from '@svc/testing/engine';

export const repository = path.resolve(import.meta.dirname, '../../../..');

/** The version of the services and their packages. */
export const { version }: { version: string } = JSON.parse(
  fs.readFileSync(path.join(repository, 'package.json'), 'utf8'),
);

/** A temporary folder that all users can enter, in memory if it has space for this many bytes. */
export function aFolder(bytes = Number.POSITIVE_INFINITY): string {
  const folder = fs.mkdtempSync(path.join(freeBytes('/dev/shm') > bytes ? '/dev/shm' : os.tmpdir(), 'install-'));
  fs.chmodSync(folder, 0o755);
  return folder;
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = fs.statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0; // it does not exist
  }
}

/** Runs `pnpm release` without its build. @param options such as `--uncompressed` */
export function buildRelease(folder: string, ...options: readonly string[]): void {
  const script = path.join(repository, 'infra/install/release.mjs');
  execFileSync(process.execPath, [script, folder, ...options], {
    env: { ...process.env, SOURCE_DATE_EPOCH: '1780000000' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Why packages cannot be built on this machine, or undefined if they can. */
export function releaseProblem(): string | undefined {
  const missing = ['dpkg-deb', 'tar', 'gzip'].filter((name) => programAt(name) === undefined);
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  return process.platform === 'linux' ? undefined : 'it requires Linux';
}

/** Why programs cannot run in a mount namespace of their own, or undefined if they can. */
export function namespaceProblem(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it requires root on Linux';
  const { status, stderr } = spawnSync(
    'unshare',
    ['--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'],
    {
      encoding: 'utf8',
    },
  );
  return status === 0 ? undefined : `namespaces are not permitted: ${stderr.trim()}`;
}
