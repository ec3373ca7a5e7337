import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const repository = path.resolve(import.meta.dirname, '../../../..');

/** The version of the services and their packages. */
export const { version }: { version: string } = JSON.parse(
  fs.readFileSync(path.join(repository, 'package.json'), 'utf8'),
);

/** A temporary folder that all users can enter. */
export function aFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'install-'));
  fs.chmodSync(folder, 0o755);
  return folder;
}

/** Builds packages as `pnpm release` does, without compression. @param only the name of one package */
export function buildRelease(folder: string, only?: string): void {
  const script = path.join(repository, 'infra/install/release.mjs');
  const args = [script, folder, '--uncompressed', ...(only === undefined ? [] : ['--only', only])];
  execFileSync(process.execPath, args, {
    env: { ...process.env, SOURCE_DATE_EPOCH: '1780000000' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

/** Runs programs in a mount namespace of their own. Undefined if this is permitted, otherwise why it is not. */
export function namespaceProblem(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it requires root on Linux';
  const { status, stderr } = spawnSync('unshare', ['--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : `namespaces are not permitted: ${stderr.trim()}`;
}
