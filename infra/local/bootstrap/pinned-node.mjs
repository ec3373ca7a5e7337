import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FLOOR, isAtLeast } from './node-version.mjs';
import { CommandFailed } from './processes.mjs';

/**
 * The program of Node that runs the product and its tests: that of `infra/node`, or this process's own if `SVC_NODE` is
 * `system`, or if the registry has no program that runs on this machine.
 * @throws CommandFailed if this process's own Node is needed and is older than the floor
 */
export function chooseNode(root, env = process.env) {
  if (env.SVC_NODE !== undefined && env.SVC_NODE !== '' && env.SVC_NODE !== 'system') {
    throw new CommandFailed(`SVC_NODE must be "system" or unset, but it is "${env.SVC_NODE}".`, 2);
  }
  const pinned = env.SVC_NODE === 'system' ? undefined : pinnedNode(root);
  if (pinned) return pinned;
  const own = process.versions.node;
  if (isAtLeast(own, FLOOR)) return process.execPath;
  const reason =
    env.SVC_NODE === 'system'
      ? 'SVC_NODE=system selects this version'
      : `the registry has no Node for ${process.platform} on ${process.arch}`;
  throw new CommandFailed(
    `Node ${FLOOR} or later is required, but this is Node ${own}, and ${reason}. Install Node ${pinnedVersion(root)} from https://nodejs.org.`,
    1,
  );
}

/** The installed program for this platform, or undefined if there is none or it does not run here. */
export function pinnedNode(root) {
  const modules = path.join(root, 'infra', 'node', 'node_modules');
  return ['node', 'node-bin']
    .map((prefix) => path.join(modules, `${prefix}-${process.platform}-${process.arch}`, 'bin', 'node'))
    .find((file) => existsSync(file) && spawnSync(file, ['--version']).status === 0);
}

function pinnedVersion(root) {
  const { optionalDependencies } = JSON.parse(readFileSync(path.join(root, 'infra', 'node', 'package.json'), 'utf8'));
  return Object.values(optionalDependencies)[0];
}
