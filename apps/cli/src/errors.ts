/** The exit codes of all commands. `docs/command-line.md` explains them. */
export const exitCodes = { done: 0, failed: 1, usage: 2, changes: 3, approval: 4 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The command line is wrong, and nothing was done: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The command was refused or has failed: exit code 1. The message is for the user. */
export class Failure extends Error {
  override name = 'Failure';
}
