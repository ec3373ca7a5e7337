import { setFlagsFromString } from 'node:v8';
import { parseFields } from '@svc/contract';
import type { z } from 'zod';
import { flushOutput } from './log-output.ts';

/**
 * V8 allocates objects in the old generation if their first siblings lived long. In a server, the first requests make it do so for the
 * objects of all requests, because the young generation is small at the start. Without it, collections of garbage cost half.
 */
const V8_FLAGS = '--no-allocation-site-pretenuring';

/** The commands of a program. The first argument selects the command; the default is `serve`. */
export type Commands = Readonly<Record<'serve' | (string & {}), (args: readonly string[]) => Promise<void>>>;

/**
 * Runs the command of this process, or prints the usage. A failure is printed to stderr without a stack trace and exits
 * with code 1.
 */
export async function runCommand(commands: Commands, usage: string): Promise<void> {
  setFlagsFromString(V8_FLAGS);
  const [name = 'serve', ...args] = process.argv.slice(2);
  if ([name, ...args].some((arg) => arg === '--help' || arg === '-h')) return console.log(usage);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    if (!command) throw new Error(`Unknown command ${name}.\n${usage}`);
    await command(args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    await flushOutput();
    process.exit(1);
  }
}

/** Parses the options of a command. @throws an error with one line per invalid option */
export function parseOptions<T extends z.ZodType>(schema: T, options: unknown): z.output<T> {
  const result = parseFields(schema, options, 'option');
  if (result.success) return result.data;
  throw new Error(result.errors.map(({ path, message }) => `--${path}: ${message}`).join('\n'));
}
