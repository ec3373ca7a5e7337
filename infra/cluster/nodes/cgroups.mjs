// Control groups of version 1 for the nodes. They are below those of the process that starts the cluster, whose limits therefore apply.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const REMOVAL_ATTEMPTS = 100;

/** The hierarchies, each with its controllers (such as `cpu,cpuacct`), its mount point, and the control group of this process. */
export function hierarchies() {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .filter((fields) => fields[fields.indexOf('-') + 1] === 'cgroup')
    .map((fields) => ({ mountPoint: fields[4], options: fields.at(-1).split(',') }));
  return readFileSync('/proc/self/cgroup', 'utf8')
    .trim()
    .split('\n')
    .map((line) => /^\d+:([^:]+):(.*)$/.exec(line))
    .filter((match) => match !== null)
    .flatMap(([, controllers, group]) => {
      const mount = mounts.find(({ options }) => controllers.split(',').every((each) => options.includes(each)));
      return mount ? [{ controllers, mountPoint: mount.mountPoint, own: path.join(mount.mountPoint, group) }] : [];
    });
}

/** Creates an empty control group in each hierarchy. @returns their folders */
export function createCgroups(name) {
  return hierarchies().map(({ controllers, own }) => {
    const folder = path.join(own, name);
    mkdirSync(folder);
    // A new group of this controller accepts no process before both files have values.
    if (controllers === 'cpuset') {
      for (const file of ['cpuset.cpus', 'cpuset.mems']) {
        writeFileSync(path.join(folder, file), readFileSync(path.join(own, file)));
      }
    }
    return folder;
  });
}

/** Removes the control groups with this name and all groups in them, when their processes have ended. */
export async function removeCgroups(name) {
  for (const { own } of hierarchies()) {
    const folder = path.join(own, name);
    for (let left = REMOVAL_ATTEMPTS; existsSync(folder); left -= 1) {
      try {
        removeTree(folder);
      } catch (error) {
        if (error.code !== 'EBUSY' || left === 0) throw error;
        await pause(100);
      }
    }
  }
}

function removeTree(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(path.join(folder, entry.name));
  }
  rmdirSync(folder);
}
