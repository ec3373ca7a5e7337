import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Account, canEnter, folderOnlyRootWrites, giveTo } from './account.ts';

const run = promisify(execFile);

/** Where and how the data is kept: thrown away with the server, or for good and behind a password. */
export type Storage = { kind: 'temporary' } | { kind: 'durable'; dataDir: string; password: string };

/** PostgreSQL's own environment: nothing of the caller's locale or time zone gets into the data. */
export const serverEnvironment = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };

/** The folder where that user can really keep the data: as wanted, else one that only root can make. */
export async function placeData(storage: Storage, account: Account): Promise<string> {
  if (storage.kind === 'temporary') {
    const parent = (await canEnter(account, os.tmpdir())) ? os.tmpdir() : folderOnlyRootWrites();
    return path.join(makePrivateFolder(path.join(parent, 'svc-postgres-'), account), 'data');
  }
  const wanted = path.resolve(storage.dataDir);
  const parent = path.dirname(wanted);
  try {
    fs.mkdirSync(parent, { recursive: true });
    fs.accessSync(fs.existsSync(wanted) ? wanted : parent, fs.constants.W_OK);
  } catch (cause) {
    throw new Error(`The data folder ${wanted} can't be written: choose another one, or make it writable.`, { cause });
  }
  const real = path.join(fs.realpathSync(parent), path.basename(wanted));
  if (await canEnter(account, parent)) return real;
  const name = createHash('sha256').update(real).digest('hex').slice(0, 16);
  return path.join(folderOnlyRootWrites(), name);
}

/** Makes the data folder unless it is there. It appears complete or not at all: a killed start leaves nothing half-made. */
export async function initialise(bin: string, dataDir: string, storage: Storage, account: Account): Promise<void> {
  if (fs.existsSync(path.join(dataDir, 'PG_VERSION'))) return;
  if (fs.existsSync(dataDir) && fs.readdirSync(dataDir).length > 0) {
    throw new Error(`${dataDir} holds something else than PostgreSQL's data: choose another data folder, or empty it.`);
  }
  removeLeftovers(dataDir);
  const staging = makePrivateFolder(`${dataDir}.new-${process.pid}-`, account);
  try {
    const made = path.join(staging, 'data');
    const authentication = passwordArguments(storage, staging, account);
    const args = ['-D', made, '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-instructions', ...authentication];
    await run(path.join(bin, 'initdb'), args, { ...account, cwd: '/', env: serverEnvironment });
    if (fs.existsSync(dataDir)) fs.rmdirSync(dataDir);
    fs.renameSync(made, dataDir);
  } finally {
    fs.rmSync(staging, { recursive: true, force: true });
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

function removeLeftovers(dataDir: string): void {
  const prefix = `${path.basename(dataDir)}.new-`;
  for (const name of fs.readdirSync(path.dirname(dataDir)).filter((entry) => entry.startsWith(prefix))) {
    if (isAlive(Number.parseInt(name.slice(prefix.length), 10))) continue; // somebody is at work in it
    fs.rmSync(path.join(path.dirname(dataDir), name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // alive, but somebody else's
  }
}
