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

const PROGRAMS = {
  podman: ['podman', 'runc', 'iptables', 'busybox'],
  docker: ['dockerd', 'docker', 'containerd', 'runc', 'iptables', 'busybox'],
} as const;

/** Why there can be no such engine here; undefined where there can. */
export function engineProblem(kind: keyof typeof PROGRAMS): string | undefined {
  if (process.platform !== 'linux') return `${kind} needs Linux`;
  const missing = PROGRAMS[kind].filter((name) => programAt(name) === undefined);
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  return process.getuid?.() === 0 ? undefined : 'only root can have it with networks';
}
