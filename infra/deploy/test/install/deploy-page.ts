import { type CommandBlock, commandBlocks } from '../../../local/test/documentation/pages.ts';

/** The blocks of docs/deploy.md that install the packages. */
export const installation = (): CommandBlock[] =>
  commandBlocks('docs/deploy.md').filter(({ comment }) => comment === 'runs on Debian');

/** The commands of a script. The lines of a here-document belong to its command, and `a && b` are two commands. */
export function commandsIn(script: string): string[] {
  const commands: string[] = [];
  let end: string | undefined;
  for (const line of script.split('\n')) {
    if (end !== undefined) {
      if (line === end) end = undefined;
    } else if (line.trim() !== '' && !line.startsWith('#')) {
      commands.push(...line.split(/&&|;/));
      end = /<< '(\w+)'$/.exec(line)?.[1];
    }
  }
  return commands;
}
