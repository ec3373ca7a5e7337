/** What is wrong with this version of Node, in one sentence; nothing when it will do. Syntax: see bootstrap.mjs. */
export function nodeProblem(version) {
  const parts = version.split('.').map(Number);
  if (parts[0] > 20 || (parts[0] === 20 && parts[1] >= 19)) return undefined;
  return `This needs Node 20.19 or later, and this is Node ${version}: install a newer one from https://nodejs.org.`;
}
