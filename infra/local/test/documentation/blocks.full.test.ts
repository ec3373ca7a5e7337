// Runs the command blocks of the documentation in their order, page by page. A page can also rely on the variables of `world.ts`.
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type CommandBlock, commandBlocks, pages, reasonOf, type Shown, scriptOf, shownCommands } from './pages.ts';
import { startWorld, type World } from './world.ts';

const START_MS = 120_000;
/** Comments before a block that determine how it runs. The tour has a test of its own (`start.test.ts`). */
const TOUR = 'tour';
const UNTIL_OUTPUT = 'runs until interrupted';
const RESPONDS = 'responds with ';

/** The line before the output of a command. The text after it is its place. */
const MARK = '@@@@ ';

const isExecuted = (block: CommandBlock) => reasonOf(block) === undefined && block.comment !== TOUR;
const executed = new Map(pages().map((page) => [page, commandBlocks(page).filter(isExecuted)]));

let world: World;
beforeAll(async () => {
  world = await startWorld();
}, START_MS);
afterEach(() => world.cleanUp(), START_MS);
afterAll(() => world?.stop(), START_MS);

test.each([...executed].filter(([, blocks]) => blocks.length > 0))(
  'each command block of %s works as printed',
  async (_, blocks) => {
    const { code, stdout, stderr } = await world.run(blocks.map(markedScript).join(''), await world.variables());
    const outputs = outputsOf(stdout);
    const [last] = [...outputs.keys()].slice(-1);
    expect({ code, last, stdout: outputs.get(last ?? ''), stderr }).toMatchObject({ code: 0 });
    for (const { place, output } of blocks.flatMap(shownOutputs)) expect(outputs.get(place)).toMatch(patternOf(output));
  },
  START_MS,
);

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
  return new RegExp(`^${parts.join('[^]*?')}$`);
};
