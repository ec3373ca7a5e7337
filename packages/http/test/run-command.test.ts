import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { type Commands, parseOptions, runCommand } from '../src/index.ts';

const { argv } = process;
const printed: string[] = [];
const calls: (readonly string[])[] = [];

const commands: Commands = {
  serve: async (args) => void calls.push(['serve', ...args]),
  import: async (args) => void calls.push(['import', ...args]),
  fail: async () => {
    throw new Error('The folder does not exist.');
  },
  create: async () => {
    parseOptions(z.strictObject({ name: z.string(), role: z.enum(['viewer', 'admin']) }), {
      role: 'king',
      colour: 'red',
    });
  },
};

/** Runs a command line. @returns the exit code, or undefined if the command succeeds */
async function run(...args: string[]): Promise<unknown> {
  process.argv = [...argv.slice(0, 2), ...args];
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  await runCommand(commands, 'usage of the program');
  return exit.mock.calls[0]?.[0];
}

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation((text: unknown) => void printed.push(String(text)));
});
afterEach(() => {
  process.argv = argv;
  jest.restoreAllMocks();
  printed.length = 0;
  calls.length = 0;
});

test('the first argument selects the command, and the others are its arguments', async () => {
  expect(await run('import', 'folder', '--dry-run')).toBeUndefined();
  expect(calls).toEqual([['import', 'folder', '--dry-run']]);
});

test('without an argument the command is serve', async () => {
  expect(await run()).toBeUndefined();
  expect(calls).toEqual([['serve']]);
});

test.each([{ args: ['--help'] }, { args: ['-h'] }, { args: ['import', '--help'] }])(
  '$args prints the usage to stdout and runs no command',
  async ({ args }) => {
    const output = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    expect(await run(...args)).toBeUndefined();
    expect(output.mock.calls).toEqual([['usage of the program']]);
    expect(calls).toEqual([]);
  },
);

test.each(['fly', 'constructor'])('the unknown command %s prints the usage and ends with 1', async (name) => {
  expect(await run(name)).toBe(1);
  expect(printed).toEqual([`Unknown command ${name}.\nusage of the program`]);
  expect(calls).toEqual([]);
});

test('an error is printed without a stack trace and ends with 1', async () => {
  expect(await run('fail')).toBe(1);
  expect(printed).toEqual(['The folder does not exist.']);
});

test('all invalid options are printed with what is allowed', async () => {
  expect(await run('create')).toBe(1);
  expect(printed).toEqual([
    '--name: is required\n--role: must be one of: viewer, admin\n--colour: unknown option; allowed: name, role',
  ]);
});
