export { GIT_LIMITS, type GitLimits } from './bounds.ts';
export { isBranchName } from './branch-name.ts';
export { GitError } from './errors.ts';
export type { GitSend } from './protocol.ts';
export { commitOf, descendsFrom, type GitFolder, readFolder } from './reader.ts';
export { GIT_OUTBOUND, type GitOverOptions, gitOver } from './transport.ts';
