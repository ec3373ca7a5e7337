// The pages of the documentation, and the command blocks in them.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../src/settings.ts';

/** A fenced block of a page in the language `sh`, `bash` or `console`. */
export interface CommandBlock {
  /** The page and the line of the fence: `docs/sync.md:30`. */
  readonly at: string;
  readonly language: string;
  readonly text: string;
  /** The comment on the line before the fence, or ''. */
  readonly comment: string;
}

const LANGUAGES = ['sh', 'bash', 'console'];
const NOT_EXECUTED = 'not executed: ';

/** The paths of all pages. Decision records and the changelog describe the past, so they are not among them. */
export const pages = (): readonly string[] => allPages;

const allPages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pagesBelow('docs'), ...pagesBelow('infra')].sort();

/** Does not follow the links in `node_modules`. */
function pagesBelow(folder: string): string[] {
  return fs.readdirSync(path.join(repository, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' || file === 'docs/decisions' ? [] : pagesBelow(file);
    return entry.isFile() && file.endsWith('.md') ? [file] : [];
  });
}

const readPage = (page: string): string => fs.readFileSync(path.join(repository, page), 'utf8');

/** All fenced blocks of a page. @throws if a fence is not closed */
export function fencedBlocks(page: string, content = readPage(page)): CommandBlock[] {
  const lines = content.split('\n');
  const blocks: CommandBlock[] = [];
  for (let start = 0; start < lines.length; start += 1) {
    const fence = /^( *)```(.*)$/.exec(lines[start] ?? '');
    if (!fence) continue;
    const [, indent = '', language = ''] = fence;
    const end = lines.indexOf(`${indent}\`\`\``, start + 1);
    if (end === -1) throw new Error(`${page}:${start + 1}: the block has no end with the same indentation`);
    const [, comment = ''] = /^ *<!-- (.*) -->$/.exec(lines[start - 1] ?? '') ?? [];
    const text = lines.slice(start + 1, end).map((line) => `${line.slice(indent.length)}\n`);
    blocks.push({ at: `${page}:${start + 1}`, language, text: text.join(''), comment });
    start = end;
  }
  return blocks;
}

export const commandBlocks = (page: string): CommandBlock[] =>
  fencedBlocks(page).filter(({ language }) => LANGUAGES.includes(language));

/** Why a block is not executed, or undefined. */
export const reasonOf = ({ comment }: CommandBlock): string | undefined =>
  comment.startsWith(NOT_EXECUTED) ? comment.slice(NOT_EXECUTED.length) : undefined;

/** A command of a block in the language `console`, and the output that the page shows for it. */
export interface Shown {
  readonly command: string;
  readonly output: string;
}

/** The commands of a block in the language `console`: lines after `$ `, which continue on lines after `> `. */
export function shownCommands({ text }: CommandBlock): Shown[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const lines = part.split('\n');
      const end = lines.findIndex((line, index) => index > 0 && !line.startsWith('> '));
      const command = lines.slice(0, end).map((line, index) => (index === 0 ? line : line.slice(2)));
      return { command: command.join('\n'), output: lines.slice(end).join('\n').trim() };
    });
}

/** The commands of a block as one script. */
export const scriptOf = (block: CommandBlock): string =>
  block.language === 'console'
    ? shownCommands(block)
        .map(({ command }) => `${command}\n`)
        .join('')
    : block.text;

/** The script of the tour in README.md. */
export function tour(): string {
  const block = commandBlocks('README.md').find(({ comment }) => comment === 'tour');
  if (block === undefined) throw new Error('README.md has no tour');
  return block.text;
}

/** The targets of the relative links of a page, as paths in the repository, with the anchor if there is one. */
export const linksOf = (page: string): { file: string; anchor: string | undefined }[] =>
  [...readPage(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, target = '', anchor]) => ({
    file: target === '' ? page : path.join(path.dirname(page), target),
    anchor,
  }));

/** The anchors of the headings of a page, as GitHub derives them. */
export const anchorsOf = (page: string): string[] =>
  [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** Runs a script in a folder. @returns the output of each curl command */
export async function responsesOf(script: string, folder: string): Promise<Record<string, unknown>[]> {
  const separated = script.replaceAll(/^curl /gm, 'echo; curl ');
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', separated], { cwd: folder });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>); // all responses are JSON objects
}
