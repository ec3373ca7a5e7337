import fs from 'node:fs';

/** Writes a file that only its owner can read. It appears whole or not at all, also when the power goes. */
export function writePrivateFile(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}`;
  const handle = fs.openSync(unfinished, 'w', 0o600);
  try {
    fs.writeSync(handle, text);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(unfinished, file);
}
