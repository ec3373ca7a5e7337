import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe } from '@jest/globals';
import { programAt } from '../engine/at-hand.ts';

/** The program git, and the CGI program with which it serves repositories over HTTP. */
interface GitPrograms {
  readonly git: string;
  readonly backend: string;
}

/** The programs of this machine; undefined if one of them is not installed. */
export function gitPrograms(): GitPrograms | undefined {
  const git = programAt('git');
  if (git === undefined) return undefined;
  const folder = execFileSync(git, ['--exec-path'], { encoding: 'utf8' }).trim();
  const backend = path.join(folder, 'git-http-backend');
  return existsSync(backend) ? { git, backend } : undefined;
}

/**
 * Tests that need these programs. Without them they are skipped, with the reason in their title, or fail if `TEST_GIT=required`
 * is set.
 */
export function describeWithGit(title: string, tests: () => void): void {
  if (gitPrograms() || process.env.TEST_GIT === 'required') describe(title, tests);
  else describe.skip(`${title} (skipped: git with git-http-backend not installed)`, tests);
}
