// Files of lists, converted to applications.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.join(import.meta.dirname, '../../../..');

export interface Part {
  readonly name: string;
  readonly kind?: 'job';
  readonly image_name: string;
  readonly image_tag?: string;
  readonly volume_mounts?: readonly object[];
  readonly node_selector?: Readonly<Record<string, string>>;
}

export interface Input {
  readonly name: string;
  readonly type: 'text' | 'choice' | 'secret';
  readonly choices?: readonly string[];
  readonly required: boolean;
  readonly default?: string;
}

export interface Converted {
  readonly list: string;
  /** The file in the list. */
  readonly name: string;
  readonly application?: {
    readonly inputs: readonly Input[];
    readonly generated?: readonly object[];
    readonly parts: readonly Part[];
  };
}

/** The files of lists, which are arguments of packages/convert/corpus.mjs. */
export async function converted(lists: readonly string[]): Promise<Converted[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'lists-'));
  const report = path.join(folder, 'report.json');
  await promisify(execFile)(process.execPath, ['packages/convert/corpus.mjs', ...lists, '--report', report], {
    cwd: root,
  });
  const all: Converted[] = JSON.parse(await readFile(report, 'utf8')); // see corpus.mjs
  await rm(folder, { recursive: true });
  return all;
}
