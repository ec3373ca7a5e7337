import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { type Program, parseOptions, printing, runProgram } from '../../src/index.ts';

const { argv } = process;
const printed: string[] = [];
const failures: string[] = [];
const calls: unknown[] = [];

const record = (name: string, exitCode: 0 | undefined) => ({
  summary: `run ${name}`,
  run: async (input: unknown) => {
    calls.push([name, input]);
    return exitCode;
  },
});

const program: Program = {
  service: 'fixture',
  version: '1.2.3',
  commands: {
    serve: record('serve', undefined),
    import: {
      ...record('import', 0),
      argument: '<folder>',
      options: { 'dry-run': { help: 'only print' }, 'max-deletions': { value: '<count>', help: 'a limit' } },
    },
    fail: printing('fail', async () => {
      throw new Error('The folder does not exist.');
    }),
    create: printing('create', async () => {
      const schema = z.strictObject({ name: z.string(), role: z.enum(['viewer', 'admin']) });
      return parseOptions(schema, { role: 'king', colour: 'red' }).name;
    }),
    unwell: {
      summary: 'find problems',
      run: async () => 1,
    },
  },
};

/** Runs a command line. @returns the exit code, or undefined if the process continues */
async function run(...args: string[]): Promise<unknown> {
  process.argv = [...argv.slice(0, 2), ...args];
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  await runProgram(program);
  return exit.mock.calls[0]?.[0];
}

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation((text: unknown) => void failures.push(String(text)));
  jest.spyOn(console, 'log').mockImplementation((text: unknown) => void printed.push(String(text)));
});
afterEach(() => {
  process.argv = argv;
  jest.restoreAllMocks();
  for (const list of [printed, failures, calls]) list.length = 0;
});

test('the first argument selects the command, and the others are its argument and options', async () => {
  expect(await run('import', 'folder', '--dry-run', '--max-deletions', '3')).toBe(0);
  expect(calls).toEqual([['import', { argument: 'folder', options: { 'dry-run': true, 'max-deletions': '3' } }]]);
});

test('without an argument the command is serve, which does not exit', async () => {
  expect(await run()).toBeUndefined();
  expect(calls).toEqual([['serve', { argument: '', options: {} }]]);
});

test.each([['--help'], ['-h']])(
  '%s prints all commands and the exit codes to stdout, and exits with 0',
  async (arg) => {
    expect(await run(arg)).toBe(0);
    const [text] = printed;
    for (const name of [...Object.keys(program.commands), 'version'])
      expect(text).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
    expect(text).toContain('serve    run serve (default)');
    for (const code of [0, 1, 2]) expect(text).toMatch(new RegExp(`^  ${code}  \\w`, 'm'));
    expect(calls).toEqual([]);
  },
);

test('--help after a command prints its argument and options, and runs nothing', async () => {
  expect(await run('import', '--help')).toBe(0);
  expect(printed[0]).toContain('Usage: node dist/main.js import <folder> [options]');
  expect(printed[0]).toMatch(/--dry-run +only print\n +--max-deletions <count> +a limit\n/);
  expect(calls).toEqual([]);
});

test.each(['version', '--version'])('%s prints the service and its version', async (name) => {
  expect(await run(name)).toBe(0);
  expect(printed).toEqual(['fixture 1.2.3']);
});

test.each(['fly', 'constructor'])('the unknown command %s prints the help to stderr and exits with 2', async (name) => {
  expect(await run(name)).toBe(2);
  expect(failures[0]).toMatch(new RegExp(`^Unknown command ${name}\\.\n\nUsage: `));
  expect(calls).toEqual([]);
});

test.each([
  { args: ['import'], message: 'Specify exactly one <folder>.' },
  { args: ['import', 'one', 'two'], message: 'Specify exactly one <folder>.' },
  { args: ['import', 'folder', '--colour'], message: "Unknown option '--colour'" },
  { args: ['import', 'folder', '--max-deletions'], message: 'argument missing' },
  { args: ['fail', 'folder'], message: 'The command fail has no argument; found "folder".' },
])('the invalid command line $args exits with 2 and refers to the help', async ({ args, message }) => {
  expect(await run(...args)).toBe(2);
  expect(failures[0]).toContain(message);
  expect(failures[0]).toContain(`Run node dist/main.js ${args[0]} --help`);
  expect(calls).toEqual([]);
});

test('all invalid options are printed with what is allowed, and exit with 2', async () => {
  expect(await run('create')).toBe(2);
  expect(failures).toEqual([
    '--name: is required\n--role: must be one of: viewer, admin\n--colour: unknown option; allowed: name, role',
  ]);
});

test('an error is printed without a stack trace and exits with 1', async () => {
  expect(await run('fail')).toBe(1);
  expect(failures).toEqual(['The folder does not exist.']);
});

test('the exit code of a command is that of the process', async () => {
  expect(await run('unwell')).toBe(1);
  expect(failures).toEqual([]);
});
