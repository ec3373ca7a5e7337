import fs from 'node:fs';

/** Writes a file atomically, also with respect to power failures. Only its owner can read it. */
export function writePrivateFile(file: string, text: string): void {
  const temporary = `${file}.${process.pid}`;
  const handle = fs.openSync(temporary, 'w', 0o600);
  try {
    fs.writeSync(handle, text);
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(temporary, file);
}
