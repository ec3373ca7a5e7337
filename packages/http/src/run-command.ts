import { z } from 'zod';

/** What a process can be told to do, by the first word on its command line; `serve` is the default. */
export type Commands = Readonly<Record<'serve' | (string & {}), (args: readonly string[]) => Promise<void>>>;

/** Runs the command that this process was started with. What goes wrong is said on stderr, in words, and ends it with 1. */
export async function runCommand(commands: Commands, usage: string): Promise<void> {
  const [name = 'serve', ...args] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    if (!command) throw new Error(`There is no command ${name}.\n${usage}`);
    await command(args);
  } catch (error) {
    console.error(wordsOf(error));
    process.exit(1);
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : String(error);
}
