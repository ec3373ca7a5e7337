import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The files with TypeScript of all packages, without tests and generated code. Paths are relative to the root. */
export function sources() {
  return ['apps', 'packages', 'infra']
    .flatMap((parent) => readdirSync(path.join(root, parent)).map((name) => path.join(parent, name, 'src')))
    .flatMap((folder) => filesIn(folder).map((file) => path.join(folder, file)))
    .filter((file) => /\.tsx?$/.test(file) && !file.includes(`${path.sep}generated${path.sep}`));
}

function filesIn(folder) {
  try {
    return readdirSync(path.join(root, folder), { recursive: true });
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []; // not every folder has sources
    throw error;
  }
}
