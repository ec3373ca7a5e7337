// The files of a package in a folder, in a form that depends on nothing but their contents.
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import path from 'node:path';

/** The files and folders below a folder, as sorted paths relative to it. */
const entriesOf = (folder) => readdirSync(folder, { recursive: true }).sort();

const isFile = (file) => lstatSync(file).isFile();

/**
 * Sets the modes of all files and folders to 644 or 755, or to those that are given by path, and their times to a time in seconds. So neither
 * the umask nor the time of the build matters.
 */
export function setModesAndTimes(folder, { modes = {}, epoch }) {
  for (const entry of ['.', ...entriesOf(folder)]) {
    const file = path.join(folder, entry);
    const isProgram = !isFile(file) || (lstatSync(file).mode & 0o100) !== 0;
    chmodSync(file, modes[entry] ?? (isProgram ? 0o755 : 0o644));
    utimesSync(file, epoch, epoch);
  }
}

const hashOf = (algorithm, file) => createHash(algorithm).update(readFileSync(file)).digest('hex');

/** Lines for `sha256sum --check` or `md5sum --check` in a folder. @param includes whether a file has a line */
export const checksums = (algorithm, folder, includes = () => true) =>
  entriesOf(folder)
    .filter((entry) => isFile(path.join(folder, entry)) && includes(entry))
    .map((entry) => `${hashOf(algorithm, path.join(folder, entry))}  ${entry}\n`)
    .join('');

/** The size of the files of a folder, in bytes. */
export const sizeOf = (folder) =>
  entriesOf(folder).reduce((sum, entry) => {
    const stats = lstatSync(path.join(folder, entry));
    return stats.isFile() ? sum + stats.size : sum;
  }, 0);
