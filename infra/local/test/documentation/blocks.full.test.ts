// Runs the command blocks of the documentation in their order, page by page. A page can also rely on the variables of `world.ts`.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWithGit } from '@svc/testing';
import {
  type CommandBlock,
  commandBlocks,
  fencedBlocks,
  pages,
  reasonOf,
  type Shown,
  scriptOf,
  shownCommands,
} from './pages.ts';
import { startWorld, type World } from './world.ts';

/**
 * Comments before a block that determine how it runs. Tests of their own run the tour (`start.ci.test.ts`) and what needs a machine
 * (`infra/deploy/test/install/debian.full.test.ts`).
 */
const WITH_GIT = 'runs with git';
const ELSEWHERE = ['tour', 'runs on Debian', 'runs on Debian with the client', WITH_GIT];
const UNTIL_OUTPUT = 'runs until interrupted';
const RESPONDS = 'responds with ';

/** The line before the output of a command. The text after it is its place. */
const MARK = '@@@@ ';

const isExecuted = (block: CommandBlock) => reasonOf(block) === undefined && !ELSEWHERE.includes(block.comment);
const executed = pages()
  .map((page) => [page, commandBlocks(page).filter(isExecuted)] as const)
  .filter(([, blocks]) => blocks.length > 0);

/** They need nothing of the other blocks of their page. */
const executedWithGit = pages()
  .map((page) => [page, commandBlocks(page).filter(({ comment }) => comment === WITH_GIT)] as const)
  .filter(([, blocks]) => blocks.length > 0);

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

/** Runs blocks in their order. @throws if a command fails, or if its output is not the one that a console block shows */
async function runBlocks(blocks: readonly CommandBlock[]): Promise<void> {
  const { code, stdout, stderr } = await world.run(blocks.map(markedScript).join(''));
  const outputs = outputsOf(stdout);
  const [[place, output] = []] = [...outputs].slice(-1);
  if (code !== 0) throw new Error(`the commands at ${place} end with ${code}:\n${output}\n${stderr.slice(-4000)}`);
  for (const shown of blocks.flatMap(shownOutputs)) {
    const printed = outputs.get(shown.place) ?? '';
    if (!patternOf(shown.output).test(printed)) throw new Error(`${shown.place} prints another output:\n${printed}`);
  }
}

describe('the pages', () => {
  afterEach(() => world.cleanUp());

  test.each(executed)('each command block of %s works as printed', (_, blocks) => runBlocks(blocks));
});

describeWithGit('the pages, with a repository', () => {
  afterEach(() => world.cleanUp());

  test.each(executedWithGit)('each command block of %s that needs git works as printed', (_, blocks) =>
    runBlocks(blocks),
  );
});

describe('these blocks fail', () => {
  test.each([
    ['an unknown command', '```sh\nno-such-command\n```', /no-such-command: command not found/],
    ['a response of 404', '```sh\ncurl -s "$HUB_URL/api/v1/none"\n```', /at p.md:1 end with 22:.*not_found/s],
    ['a response of 404 in a pipe', '```sh\ncurl -s "$HUB_URL/api/v1/none" | cat\n```', /p.md:1 end with 22/],
    ['a variable that is not set', '```sh\ntrue\n```\n```sh\necho "$NONE"\n```', /p.md:4 end with 1:.*NONE/s],
    ['a status that is not the expected one', '<!-- responds with 409 -->\n```sh\ncurl -s "$HUB_URL/none"\n```', /404/],
    [
      'an expected status that does not occur',
      '<!-- responds with 409 -->\n```sh\ntrue\n```',
      /no response has the status 409/,
    ],
    ['another output', '```console\n$ echo b\na\n```', /p.md:1 command 1 prints another output:\nb/],
    ['a command that ends', '<!-- runs until interrupted -->\n```sh\necho a\n```', /p.md:2 end with 1/],
    ['a command of a service', '```sh\nnode apps/hub/dist/main.js none\n```', /Unknown command/],
  ])('%s', async (_, page, message) => {
    await expect(runBlocks(fencedBlocks('p.md', page))).rejects.toThrow(message);
  });

  test('an expected status does not fail', async () => {
    const page = '<!-- responds with 404 -->\n```sh\ncurl -s "$HUB_URL/none"\n```';
    await expect(runBlocks(fencedBlocks('p.md', page))).resolves.toBeUndefined();
  });
});

/** The script of a block, with a mark before each part whose output is needed. */
function markedScript(block: CommandBlock): string {
  const mark = (place: string) => `printf '\\n${MARK}%s\\n' '${place}'\n`;
  if (block.language === 'console') {
    return shownOutputs(block)
      .map(({ place, command }) => `${mark(place)}${command}\n`)
      .join('');
  }
  const script = scriptOf(block);
  if (block.comment === UNTIL_OUTPUT) return `${mark(block.at)}block() {\n${script}}\nuntil_output block\n`;
  if (!block.comment.startsWith(RESPONDS)) return `${mark(block.at)}${script}`;
  return `${mark(block.at)}EXPECTED=${block.comment.slice(RESPONDS.length)}\n${script}check_expected\nEXPECTED=\n`;
}

/** The commands of a console block with their places. */
const shownOutputs = (block: CommandBlock): (Shown & { place: string })[] =>
  block.language === 'console'
    ? shownCommands(block).map((shown, index) => ({ ...shown, place: `${block.at} command ${index + 1}` }))
    : [];

const outputsOf = (stdout: string) =>
  new Map(
    stdout
      .split(`\n${MARK}`)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1).trim()]),
  );

/** The shown output, in which `…` stands for any text. */
const patternOf = (shown: string) => {
  const parts = shown.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*?')}$`, 's');
};
