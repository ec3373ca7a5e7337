import { existsSync } from 'node:fs';
import path from 'node:path';

const FOLDERS = ['bin', 'debian/usr/sbin', 'debian/usr/bin', 'debian/sbin', 'debian/bin'];
export const CNI_FOLDER = 'debian/usr/lib/cni';

/** @throws if the folder is not a complete output folder of build.sh */
export function checkBuild(folder) {
  if (!existsSync(path.join(folder, 'built-by'))) {
    throw new Error(`${folder} does not contain the programs. Run infra/cluster/build.sh ${folder} first.`);
  }
}

/** The file of a program in the output folder of build.sh. */
export function programIn(folder, name) {
  const file = FOLDERS.map((each) => path.join(folder, each, name)).find((each) => existsSync(each));
  if (!file) throw new Error(`${folder} does not contain the program ${name}.`);
  return file;
}

/** The value of PATH with which programs find those of the output folder. */
export const pathWith = (folder) => [...FOLDERS.map((each) => path.join(folder, each)), process.env.PATH].join(':');
