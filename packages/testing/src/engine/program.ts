import { execFile } from 'node:child_process';

/** Where a program runs, and with which environment. */
export interface Settings {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end, within a minute. @returns what it printed @throws with what it said */
export function runProgram(file: string, args: readonly string[], settings: Settings): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(file, args, { ...settings, timeout: 60_000 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${file} ${args.join(' ')}: ${stderr || error.message}`));
      else resolve(stdout.trim());
    });
  });
}
