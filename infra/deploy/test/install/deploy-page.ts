import { type CommandBlock, commandBlocks } from '../../../local/test/documentation/pages.ts';

/** The blocks of docs/deploy.md that install the packages. */
export const installation = (): CommandBlock[] => blocksWith('runs on Debian');

/** The block of docs/deploy.md that installs and uses the client, after the services. */
export const clientInstallation = (): CommandBlock[] => blocksWith('runs on Debian with the client');

const blocksWith = (comment: string) => commandBlocks('docs/deploy.md').filter((block) => block.comment === comment);

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
