import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Where programs may be: those of administrators are not on everybody's PATH. */
export const PROGRAM_PATH = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin`;

/** Where a program is; undefined where it isn't. */
export function programAt(name: string): string | undefined {
  const candidates = PROGRAM_PATH.split(':').map((folder) => path.join(folder, name));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Why there can be no Podman here; undefined where there can. */
export function podmanProblem(): string | undefined {
  if (process.platform !== 'linux') return 'Podman needs Linux';
  const missing = ['podman', 'runc', 'iptables', 'busybox'].filter((name) => programAt(name) === undefined);
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  return process.getuid?.() === 0 ? undefined : 'only root can have it with networks';
}
