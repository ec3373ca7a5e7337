import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** PATH with the folders of administrative programs and of those of Podman, which PATH of other users does not contain. */
export const PROGRAM_PATH = `${process.env.PATH}:/usr/local/sbin:/usr/sbin:/sbin:/usr/lib/podman`;

/** The path of a program, or undefined if it is not installed. */
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
  podman: ['podman', 'catatonit', 'runc', 'iptables', 'busybox'],
  docker: ['dockerd', 'docker', 'containerd', 'runc', 'iptables', 'busybox'],
} as const;

/** Why an engine, with other programs, cannot run on this machine, or undefined if it can. */
export function engineProblem(kind: keyof typeof PROGRAMS, others: readonly string[] = []): string | undefined {
  if (process.platform !== 'linux') return `${kind} requires Linux`;
  const missing = [...PROGRAMS[kind], ...others].filter((name) => programAt(name) === undefined);
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  return process.getuid?.() === 0 ? undefined : `${kind} with networks requires root`;
}
