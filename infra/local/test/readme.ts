import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const repository = path.resolve(import.meta.dirname, '../../..');
const readme = fs.readFileSync(path.join(repository, 'README.md'), 'utf8');

/** The script of the tour in README.md. */
export function tour(): string {
  const block = /<!-- tour -->\n```sh\n(.*?)```/s.exec(readme)?.[1];
  if (block === undefined) throw new Error('README.md has no tour');
  return block;
}

/** The paths of the files that the README links to. */
export const linkedFiles = (): string[] =>
  [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => path.join(repository, target));

/** Runs a script in a folder. @returns the output of each curl command */
export async function responsesOf(script: string, folder: string): Promise<Record<string, unknown>[]> {
  const separated = script.replaceAll(/^curl /gm, 'echo; curl ');
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', separated], { cwd: folder });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>); // all responses are JSON objects
}
