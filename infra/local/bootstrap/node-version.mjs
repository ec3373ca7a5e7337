// The versions of Node that the repository supports. For the syntax of this file, see bootstrap.mjs.

/** The lowest version that can run the bootstrap and pnpm. */
const BOOTSTRAP_FLOOR = '20.19.0';

/** The lowest version with which the product runs: that of its dependencies (undici 8). */
export const FLOOR = '22.19.0';

/** Whether a version is at least another one. Both have the form `major.minor.patch`. */
export function isAtLeast(version, lowest) {
  const parts = version.split('.').map(Number);
  const bounds = lowest.split('.').map(Number);
  for (let i = 0; i < bounds.length; i += 1) {
    if (parts[i] !== bounds[i]) return parts[i] > bounds[i];
  }
  return true;
}

/** An error message for a version of Node that cannot run the bootstrap, or undefined. */
export function bootstrapProblem(version) {
  if (isAtLeast(version, BOOTSTRAP_FLOOR)) return undefined;
  return `Node ${BOOTSTRAP_FLOOR} or later is required, but this is Node ${version}. Install a newer version from https://nodejs.org.`;
}
