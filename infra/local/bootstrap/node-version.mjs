/**
 * An error message for a version of Node that is not supported, or undefined. For the syntax of this file, see
 * bootstrap.mjs.
 */
export function nodeProblem(version) {
  const parts = version.split('.').map(Number);
  if (parts[0] > 20 || (parts[0] === 20 && parts[1] >= 19)) return undefined;
  return `Node 20.19 or later is required, but this is Node ${version}. Install a newer version from https://nodejs.org.`;
}
