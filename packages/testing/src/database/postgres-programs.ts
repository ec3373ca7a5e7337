import { execFileSync } from 'node:child_process';
import { accessSync, constants, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe } from '@jest/globals';
import { PROGRAM_PATH } from '../engine/at-hand.ts';

/** The folder in which Debian installs each version. */
const VERSIONS = '/usr/lib/postgresql';
/** The server, its initialization, and the clients of the documentation. */
const PROGRAMS = ['postgres', 'initdb', 'pg_dump', 'pg_restore', 'psql'];
/** The oldest version that the services support. */
const OLDEST = 15;

/**
 * A folder with a server and the clients of its version, which the packages of npm do not contain;
 * undefined if there is none.
 */
export function postgresPrograms(): string | undefined {
  const folders = [...versionFolders(), ...PROGRAM_PATH.split(':')];
  return folders.find(
    (folder) => PROGRAMS.every((name) => canRun(path.join(folder, name))) && versionIn(folder) >= OLDEST,
  );
}

/**
 * Tests that need these programs. Without them they are skipped, with the reason in their title, or
 * fail if `TEST_POSTGRES_PROGRAMS=required` is set.
 */
export function describeWithPostgresPrograms(title: string, tests: () => void): void {
  if (postgresPrograms() || process.env.TEST_POSTGRES_PROGRAMS === 'required') describe(title, tests);
  else
    describe.skip(`${title} (skipped: no PostgreSQL ${OLDEST} or later with ${PROGRAMS.join(', ')} installed)`, tests);
}

/** The latest version first. */
function versionFolders(): string[] {
  try {
    const versions = readdirSync(VERSIONS).filter((name) => /^\d+$/.test(name));
    return versions.sort((a, b) => Number(b) - Number(a)).map((version) => path.join(VERSIONS, version, 'bin'));
  } catch {
    return []; // another distribution
  }
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function versionIn(folder: string): number {
  const [, version = '0'] =
    /(\d+)/.exec(execFileSync(path.join(folder, 'postgres'), ['--version'], { encoding: 'utf8' })) ?? [];
  return Number(version);
}
