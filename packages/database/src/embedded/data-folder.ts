import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Account, canEnter, folderOnlyRootWrites, giveTo, giveTreeTo } from './account.ts';
import { stopOrphan } from './orphan.ts';

const run = promisify(execFile);

/**
 * The storage of a server: temporary, with a copy of a snapshot or no data, or durable with a
 * password.
 */
export type Storage =
  | { kind: 'temporary'; snapshot?: string; autovacuum: boolean }
  | { kind: 'durable'; dataDir: string; password: string };

/**
 * The environment of PostgreSQL. Its data must not depend on the locale or time zone of this
 * process.
 */
export const serverEnvironment = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };

const MEMORY = '/dev/shm';
/** The `f_type` of tmpfs, from linux/magic.h. */
const TMPFS = 0x01021994;
/**
 * The minimum free space for a temporary server in bytes, for databases and 1 GB of write-ahead
 * log.
 */
const MIN_FREE_BYTES = 2 * 1024 ** 3;

/** The data folder that the account can use: the requested one, or one in the folder of root. */
export async function placeData(storage: Storage, account: Account): Promise<string> {
  if (storage.kind === 'temporary') {
    const temporary = folderInMemory() ?? os.tmpdir();
    const parent = (await canEnter(account, temporary)) ? temporary : folderOnlyRootWrites();
    const prefix = path.join(parent, 'svc-postgres-');
    await removeAbandoned(prefix, account);
    return path.join(makePrivateFolder(`${prefix}${process.pid}-`, account), 'data');
  }
  const requested = path.resolve(storage.dataDir);
  const parent = path.dirname(requested);
  try {
    fs.mkdirSync(parent, { recursive: true });
    fs.accessSync(fs.existsSync(requested) ? requested : parent, fs.constants.W_OK);
  } catch (cause) {
    throw new Error(`The data folder ${requested} is not writable. Choose another folder, or change its permissions.`, {
      cause,
    });
  }
  const real = path.join(fs.realpathSync(parent), path.basename(requested));
  if (await canEnter(account, parent)) return real;
  const name = createHash('sha256').update(real).digest('hex').slice(0, 16);
  return path.join(folderOnlyRootWrites(), name);
}

/**
 * Creates the data folder if it does not exist. The folder appears atomically, so that a killed
 * start leaves no partial data.
 */
export async function initialise(bin: string, dataDir: string, storage: Storage, account: Account): Promise<void> {
  if (fs.existsSync(path.join(dataDir, 'PG_VERSION'))) return;
  if (fs.existsSync(dataDir) && fs.readdirSync(dataDir).length > 0) {
    throw new Error(
      `${dataDir} contains files that are not data of PostgreSQL. Choose another data folder, or empty it.`,
    );
  }
  for (const folder of leftoversOf(`${dataDir}.new-`)) fs.rmSync(folder, { recursive: true, force: true });
  const staging = makePrivateFolder(`${dataDir}.new-${process.pid}-`, account);
  try {
    const created = path.join(staging, 'data');
    if (storage.kind === 'temporary' && storage.snapshot !== undefined) {
      fs.cpSync(storage.snapshot, created, { recursive: true });
      fs.chmodSync(created, 0o700); // PostgreSQL requires it, and some versions of Node do not copy the mode
      giveTreeTo(account, created);
    } else {
      const authentication = passwordArguments(storage, staging, account);
      const args = [
        '-D',
        created,
        '-U',
        'postgres',
        '-E',
        'UTF8',
        '--locale=C',
        '--no-instructions',
        ...authentication,
      ];
      await run(path.join(bin, 'initdb'), args, { ...account, cwd: '/', env: serverEnvironment });
    }
    if (fs.existsSync(dataDir)) fs.rmdirSync(dataDir);
    fs.renameSync(created, dataDir);
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * Copies the data folder of a stopped server to `snapshot`, which appears atomically. An existing
 * one is kept.
 */
export function saveSnapshot(dataDir: string, snapshot: string): void {
  fs.mkdirSync(path.dirname(snapshot), { recursive: true });
  const staging = fs.mkdtempSync(`${snapshot}.new-`);
  try {
    fs.cpSync(dataDir, staging, { recursive: true });
    if (!fs.existsSync(snapshot)) fs.renameSync(staging, snapshot);
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * A folder in memory. Copying a database there takes a tenth of the time of a copy on some disks.
 * Undefined if there is no such folder, or if it has not enough free space.
 */
function folderInMemory(): string | undefined {
  try {
    const { type, bavail, bsize } = fs.statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize >= MIN_FREE_BYTES ? MEMORY : undefined;
  } catch {
    return undefined;
  }
}

/** Stops and removes this account's temporary servers whose processes no longer exist. */
async function removeAbandoned(prefix: string, account: Account): Promise<void> {
  const owner = account.uid ?? process.getuid?.() ?? 0;
  for (const folder of leftoversOf(prefix).filter((found) => fs.lstatSync(found).uid === owner)) {
    await stopOrphan(path.join(folder, 'data'));
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function passwordArguments(storage: Storage, staging: string, account: Account): string[] {
  if (storage.kind === 'temporary') return ['-A', 'trust', '--no-sync'];
  const file = path.join(staging, 'password');
  fs.writeFileSync(file, storage.password, { mode: 0o600 });
  giveTo(account, file);
  return ['-A', 'scram-sha-256', `--pwfile=${file}`];
}

function makePrivateFolder(prefix: string, account: Account): string {
  const dir = fs.mkdtempSync(prefix);
  giveTo(account, dir);
  return fs.realpathSync(dir);
}

/**
 * The folders named `prefix`, a process id and anything after it, whose process no longer exists.
 */
function leftoversOf(prefix: string): string[] {
  const parent = path.dirname(prefix);
  const start = path.basename(prefix);
  return fs
    .readdirSync(parent)
    .filter((name) => name.startsWith(start) && /^\d+-/.test(name.slice(start.length)))
    .filter((name) => !isAlive(Number.parseInt(name.slice(start.length), 10)))
    .map((name) => path.join(parent, name));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
