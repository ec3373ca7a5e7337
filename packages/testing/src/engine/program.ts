import { execFile } from 'node:child_process';
import { scaled } from '../run/deadlines.ts';

/** The working directory and the environment of a program. */
export interface Settings {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Runs a program, for at most 30 s.
 * @returns its standard output
 * @throws an error with its standard error
 */
export function runProgram(file: string, args: readonly string[], settings: Settings): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { ...settings, timeout: scaled(30_000), killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${file} ${args.join(' ')}: ${stderr || error.message}`));
      else resolve(stdout.trim());
    });
  });
}
