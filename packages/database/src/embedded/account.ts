import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user that runs PostgreSQL; empty: the user of this process. */
export type Account = { uid?: number; gid?: number };

const safeRoot = '/var/lib/svc-postgres';

/**
 * The account for the server. PostgreSQL does not run as root, so root uses the account "nobody",
 * which every Unix has.
 */
export function serverAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const line = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = (line ?? 'nobody:x:65534:65534').split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Whether the account can enter a folder. */
export async function canEnter(account: Account, dir: string): Promise<boolean> {
  if (account.uid === undefined) return true;
  return run('/bin/sh', ['-c', 'cd "$0"', dir], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  );
}

/** Makes the account the owner of a file. */
export function giveTo(account: Account, file: string): void {
  if (account.uid !== undefined && account.gid !== undefined) fs.chownSync(file, account.uid, account.gid);
}

/** Makes the account the owner of a folder and its content. */
export function giveTreeTo(account: Account, folder: string): void {
  if (account.uid === undefined) return;
  giveTo(account, folder);
  for (const name of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    giveTo(account, path.join(folder, name));
  }
}

/**
 * A folder for files that cannot be in the requested folder if the process runs as root. Only root
 * can write to it, so that no other user can replace a data folder or a program.
 */
export function folderOnlyRootWrites(): string {
  fs.mkdirSync(safeRoot, { recursive: true });
  if (fs.lstatSync(safeRoot).uid === 0) fs.chmodSync(safeRoot, 0o755); // regardless of the umask
  for (let dir = fs.realpathSync(safeRoot); dir !== '/'; dir = path.dirname(dir)) {
    const { uid, mode } = fs.lstatSync(dir);
    if (uid !== 0 || (mode & 0o022) !== 0 || !fs.statSync(dir).isDirectory()) {
      throw new Error(`${dir} must be a folder that is owned by root and writable only by root.`);
    }
  }
  return safeRoot;
}
