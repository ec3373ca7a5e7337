import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { parseFields } from '@svc/contract';
import { z } from 'zod';
import { flushOutput } from '../observe/log-output.ts';

/**
 * V8 allocates objects in the old generation if their first siblings lived long. In a server, the
 * first requests make it do so for the objects of all requests, because the young generation is
 * small at the start. Without it, collections of garbage cost half.
 */
const V8_FLAGS = '--no-allocation-site-pretenuring';

/** An option of a command, `--name` or `--name <value>`. */
interface CommandOption {
  /** The form of the value in the help, such as `<days>`. Undefined: the option has no value. */
  readonly value?: string;
  readonly help: string;
}

/** What the command line contains after the name of a command. */
interface CommandInput {
  /** By name. The command validates the values, for example with `parseOptions`. */
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  /** The argument; '' if the command has none. */
  readonly argument: string;
}

export interface Command {
  /** One line for the help. */
  readonly summary: string;
  /** A required argument, such as `<folder>`. Undefined: the command has none. */
  readonly argument?: string;
  readonly options?: Readonly<Record<string, CommandOption>>;
  /** Resolves to the exit code, or to undefined: the process ends when nothing is left to do. */
  run(input: CommandInput): Promise<ExitCode | undefined>;
}

/**
 * The program of a service: `node dist/main.js <command>`. The default command is `serve`. The name of
 * a command can have two words.
 */
export interface Program {
  readonly service: string;
  readonly version: string;
  readonly commands: Readonly<Record<'serve' | (string & {}), Command>>;
}

/** The exit codes of all commands. `docs/commands.md` explains them. */
export const exitCodes = { success: 0, failure: 1, usage: 2 } as const;

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command that prints one text. */
export const printing = (
  summary: string,
  work: (input: CommandInput) => Promise<string>,
): Pick<Command, 'summary' | 'run'> => ({
  summary,
  run: async (input) => {
    console.log(await work(input));
    return exitCodes.success;
  },
});

/** The command line is invalid. */
class UsageError extends Error {
  override name = 'UsageError';
}

/** How this program is called. The packages set the variable. */
const CALL = process.env.SVC_PROGRAM || 'node dist/main.js';

/** The command line that runs a command of this program, such as `svc-hub migrate`. */
export const callOf = (command: string): string => `${CALL} ${command}`;

const EXIT_CODES = `Exit codes:
  ${exitCodes.success}  success
  ${exitCodes.failure}  the command failed; stderr states the reason
  ${exitCodes.usage}  the command line is invalid`;

/**
 * Runs the command of this process, or prints the help. An error is printed to stderr without a
 * stack trace. Exits the process if the command failed or has an exit code.
 */
export async function runProgram(program: Program): Promise<void> {
  setFlagsFromString(V8_FLAGS);
  const code = await execute(program, process.argv.slice(2)).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failure;
  });
  if (code === undefined) return;
  await flushOutput();
  process.exit(code);
}

/**
 * Runs a command line. Resolves to its exit code.
 * @throws UsageError for an invalid command line, and the error of the command
 */
export async function execute(
  { service, version, commands: own }: Program,
  given: readonly string[],
): Promise<ExitCode | undefined> {
  const commands = { ...own, version: printing('print the version', async () => `${service} ${version}`) };
  const { name, args } = divided(given, commands);
  const asksForHelp = [name, ...args].some((arg) => arg === '--help' || arg === '-h');
  const command = Object.entries(commands).find(([known]) => known === name.replace(/^--version$/, 'version'))?.[1];
  if (asksForHelp) console.log(command ? helpOf(name, command) : helpOfAll(service, commands));
  if (asksForHelp) return exitCodes.success;
  if (!command) throw new UsageError(`Unknown command ${name}.\n\n${helpOfAll(service, commands)}`);
  return command.run(inputOf(name, command, args));
}

/** The name of a command, which can have two words, and what follows it. */
function divided([first = 'serve', second = '', ...rest]: readonly string[], commands: object) {
  const both = `${first} ${second}`;
  if (Object.hasOwn(commands, both)) return { name: both, args: rest };
  return { name: first, args: second === '' ? rest : [second, ...rest] };
}

/**
 * @throws UsageError for unknown options, options without their value, and a missing or unexpected
 * argument
 */
function inputOf(name: string, { argument, options = {} }: Command, args: readonly string[]): CommandInput {
  const config: ParseArgsConfig = {
    args: [...args],
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(options).map(([option, { value }]) => [option, { type: value ? 'string' : 'boolean' }]),
    ),
  };
  const refuse = (reason: string) => new UsageError(`${reason}\nRun ${CALL} ${name} --help for its options.`);
  try {
    const { values, positionals } = parseArgs(config);
    const [given = '', ...more] = positionals;
    if (argument !== undefined && (given === '' || more.length > 0)) throw refuse(`Specify exactly one ${argument}.`);
    if (argument === undefined && positionals.length > 0)
      throw refuse(`The command ${name} has no argument; found ${JSON.stringify(given)}.`);
    return {
      options: z.record(z.string(), z.union([z.string(), z.boolean()]).optional()).parse(values),
      argument: given,
    };
  } catch (error) {
    if (error instanceof TypeError) throw refuse(error.message); // of parseArgs
    throw error;
  }
}

/** Parses the options of a command. @throws UsageError with one line per invalid option */
export function parseOptions<T extends z.ZodType>(schema: T, options: unknown): z.output<T> {
  const result = parseFields(schema, options, 'option');
  if (result.success) return result.data;
  throw new UsageError(result.errors.map(({ path, message }) => `--${path}: ${message}`).join('\n'));
}

const packageFile = z.object({ version: z.string().regex(/^\d+\.\d+\.\d+/) });

/**
 * The version in a `package.json`, which is the only place that states the version of a service.
 */
export const readVersion = (file: URL): string => packageFile.parse(JSON.parse(readFileSync(file, 'utf8'))).version;

function helpOfAll(service: string, commands: Readonly<Record<string, Command>>): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => [
    name,
    name === 'serve' ? `${summary} (default)` : summary,
  ]);
  return `Usage: ${CALL} <command> [options]

Commands of the ${service}:
${table(rows)}

Run ${CALL} <command> --help for the options of a command. The environment variables are in docs/configuration.md.

${EXIT_CODES}`;
}

function helpOf(name: string, { summary, argument, options = {} }: Command): string {
  const rows = Object.entries(options).map(([option, { value, help }]) => [
    value ? `--${option} ${value}` : `--${option}`,
    help,
  ]);
  const usage = [CALL, name, ...(argument ? [argument] : []), '[options]'].join(' ');
  return `Usage: ${usage}

${summary[0]?.toUpperCase()}${summary.slice(1)}.

Options:
${table([...rows, ['--help', 'print this text']])}

${EXIT_CODES}`;
}

function table(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', second = '']) => `  ${first.padEnd(width)}  ${second}`).join('\n');
}

/** Who runs a command, for the audit log: the operating-system user. */
export function commandUser(): string {
  const name = () => {
    try {
      return userInfo().username;
    } catch {
      return `uid ${process.getuid?.() ?? 'unknown'}`; // the user has no name, as in some containers
    }
  };
  return `${name()} (command line)`;
}
