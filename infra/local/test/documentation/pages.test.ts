import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { repository } from '../../src/settings.ts';
import { anchorsOf, commandBlocks, fencedBlocks, linksOf, pages, reasonOf, scriptOf, shownCommands } from './pages.ts';

/** The number of command blocks that no test executes. Increase it only for a block that cannot be executed. */
const MAX_NOT_EXECUTED = 29;

const blocks = pages().flatMap(commandBlocks);
const notExecuted = blocks.filter((block) => reasonOf(block) !== undefined);

test.each(pages())('each link of %s leads to an existing file and heading', (page) => {
  const broken = linksOf(page).filter(
    ({ file, anchor }) =>
      !fs.existsSync(path.join(repository, file)) ||
      (anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor)),
  );
  expect(broken).toEqual([]);
});

test('the README has links', () => expect(linksOf('README.md')).not.toEqual([]));

test.each(pages())('each block of %s names its language', (page) => {
  expect(fencedBlocks(page).filter(({ language }) => !/^[a-z]+$/.test(language))).toEqual([]);
});

test.each(blocks.map((block) => [block.at, block] as const))('the commands at %s are valid for bash', (_, block) => {
  const { status, stderr } = spawnSync('bash', ['-n'], { input: scriptOf(block), encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('the index of decisions names each record once under a topic, with its title and number', () => {
  const folder = path.join(repository, 'docs/decisions');
  const records = fs.readdirSync(folder).filter((name) => /^\d{4}-.*\.md$/.test(name));
  const lines = records.map((name) => {
    const [title = ''] = fs.readFileSync(path.join(folder, name), 'utf8').split('\n');
    const [, number, text] = /^# (\d+)\. (.+)$/.exec(title) ?? [];
    return `- [${text}](${name}) (${number})`;
  });
  const [, ...topics] = fs.readFileSync(path.join(folder, 'README.md'), 'utf8').split('\n## ');
  const listed = topics.flatMap((topic) => topic.split('\n').filter((line) => line.startsWith('- ')));
  expect(listed.sort()).toEqual(lines.sort());
});

test('each file that the reason of a block names exists', () => {
  const named = notExecuted.flatMap((block) => reasonOf(block)?.match(/[\w/.-]+\.(ts|mjs)\b/g) ?? []);
  expect(named).not.toEqual([]);
  expect(named.filter((file) => !fs.existsSync(path.join(repository, file)))).toEqual([]);
});

test('each command block that no test executes states a reason, and their number is bounded', () => {
  const list = notExecuted.map((block) => `${block.at}: ${reasonOf(block)}`);
  process.stdout.write(`${list.length} of ${blocks.length} command blocks are not executed:\n${list.join('\n')}\n`);
  expect(notExecuted.filter((block) => !/\w{2,} \w{2,}/.test(reasonOf(block) ?? ''))).toEqual([]);
  expect(list.length).toBeLessThanOrEqual(MAX_NOT_EXECUTED);
});

test('blocks are found with their line, indentation and comment', () => {
  const page = '# P\n<!-- not executed: needs a cluster -->\n```sh\na\n```\n1. x\n\n   ```json\n   {}\n   ```\n';
  expect(fencedBlocks('p.md', page)).toEqual([
    { at: 'p.md:3', language: 'sh', text: 'a\n', comment: 'not executed: needs a cluster' },
    { at: 'p.md:8', language: 'json', text: '{}\n', comment: '' },
  ]);
  expect(() => fencedBlocks('p.md', '```sh\na\n')).toThrow('p.md:1: the block has no end');
});

test('the commands of a console block are separated from their output', () => {
  const text = '$ echo a \\\n>   b\na b\n$ true\n$ echo c\nc\nd\n';
  expect(shownCommands({ at: 'p.md:1', language: 'console', text, comment: '' })).toEqual([
    { command: 'echo a \\\n  b', output: 'a b' },
    { command: 'true', output: '' },
    { command: 'echo c', output: 'c\nd' },
  ]);
});
