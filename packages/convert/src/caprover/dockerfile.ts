import type { PartPort } from '../application.ts';
import { type Key, Refused } from '../compose/context.ts';
import { imageOf } from '../compose/image.ts';
import { protocolOf } from '../compose/ports.ts';
import { each, type PartDraft, type ServiceContext, text } from '../compose/rules.ts';
import { folderOf, isVariableName, setVariable } from '../compose/service.ts';
import { fateOf, hasVariable, withDefaults, withPlaceholders } from '../compose/variables.ts';
import { wordsOf } from '../compose/words.ts';

/** The instructions that are converted. */
export const INSTRUCTIONS = ['FROM', 'CMD', 'ENTRYPOINT', 'ENV', 'EXPOSE', 'WORKDIR', 'USER', 'LABEL'];

const BUILD = 'changes the image, and the fleet builds no images: build and push the image';

/** Converts the lines of a Dockerfile that change nothing in the image but how it is started. */
export function dockerfileLines(key: Key, draft: PartDraft, context: ServiceContext): void {
  let images = 0;
  let isReset = false;
  each(key, context, (child) => {
    const lines = instructionsIn(text(child));
    for (const { instruction, rest } of lines) {
      if (instruction === 'FROM' && images++ > 0) throw new Refused(BUILD);
      if (instruction === 'ENTRYPOINT' && rest === '[]') isReset = true;
      else convertInstruction(child, draft, context, instruction, rest);
    }
    const pieces = context.conversion.pieces(text(child), child.part);
    if (lines.some(({ instruction }) => instruction === 'FROM') && hasVariable(pieces))
      context.conversion.harmless(child, 'image_variable');
    else fateOf(context.conversion, child, pieces);
  });
  if (!isReset) return;
  if (!draft.command) throw new Refused('removes the entrypoint of the image, and states no command');
  draft.entrypoint = draft.command;
  delete draft.command;
}

interface Instruction {
  readonly instruction: string;
  readonly rest: string;
}

/** The instructions in a text, without comments. Lines that end with a backslash continue. */
function instructionsIn(given: string): Instruction[] {
  const lines = given.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('#'));
  const joined: string[] = [];
  let isContinued = false;
  for (const line of lines) {
    const content = line.trimEnd().endsWith('\\') ? line.trimEnd().slice(0, -1) : line;
    if (isContinued) joined[joined.length - 1] += content;
    else joined.push(content);
    isContinued = content.length < line.trimEnd().length;
  }
  return joined.map((line) => {
    const [word = ''] = line.trim().split(/\s/, 1);
    return { instruction: word.toUpperCase(), rest: line.trim().slice(word.length).trim() };
  });
}

function convertInstruction(
  key: Key,
  draft: PartDraft,
  { conversion }: ServiceContext,
  instruction: string,
  rest: string,
): void {
  if (!INSTRUCTIONS.includes(instruction)) throw new Refused(BUILD);
  const pieces = (given: string) => conversion.pieces(given, key.part);
  const fixed = (given: string) => {
    const value = withDefaults(pieces(given));
    if (value.includes('$')) throw new Refused('has a variable of a build');
    return value;
  };
  switch (instruction) {
    case 'FROM':
      if (/\s/.test(rest)) throw new Refused(BUILD);
      Object.assign(draft, imageOf(fixed(rest)));
      break;
    case 'CMD':
      draft.command = commandOf(rest).map((word) => withPlaceholders(conversion, pieces(word)));
      break;
    case 'ENTRYPOINT':
      draft.entrypoint = commandOf(rest).map((word) => withPlaceholders(conversion, pieces(word)));
      break;
    case 'ENV':
      for (const [name, value] of assignmentsIn(rest)) {
        if (value.replaceAll('$$cap_', '').includes('$')) throw new Refused('has a variable of a build');
        if (!isVariableName(name)) throw new Refused('is not the name of a variable');
        if (!draft.env?.some((present) => present.name === name))
          setVariable(draft, name, withPlaceholders(conversion, pieces(value)));
      }
      break;
    case 'EXPOSE':
      // CapRover states in its own member which port is published.
      for (const text of wordsOf(fixed(rest))) draft.ports = [...(draft.ports ?? []), portIn(text)];
      break;
    case 'WORKDIR':
      draft.working_dir = folderOf(fixed(rest));
      break;
    case 'USER': {
      const user = fixed(rest).replace(/^root$/, '0');
      if (!/^\d+(?::\d+)?$/.test(user))
        throw new Refused('names a user, whose id a fleet cannot look up: write the ids');
      draft.run_as = user;
      break;
    }
  }
}

/** A port such as `53/udp`. @throws Refused */
function portIn(text: string): PartPort {
  const [, digits, protocol = ''] = /^(\d{1,5})(?:\/(tcp|udp))?$/i.exec(text) ?? [];
  const containerPort = Number(digits);
  if (!(containerPort >= 1 && containerPort <= 65_535)) throw new Refused('is not a port');
  return { containerPort, ...protocolOf(protocol) };
}

/** The words of a command: a JSON list, or a line for a shell. @throws Refused */
function commandOf(rest: string): readonly string[] {
  if (!rest.startsWith('[')) return ['/bin/sh', '-c', rest];
  try {
    const words: unknown = JSON.parse(rest);
    if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words;
  } catch {
    // It is a line for a shell, as for the engine.
  }
  return ['/bin/sh', '-c', rest];
}

/** The variables of `NAME=value …` or `NAME value`. @throws Refused */
function assignmentsIn(rest: string): readonly (readonly [string, string])[] {
  const [first = ''] = rest.split(/\s/, 1);
  if (!first.includes('=')) return [[first, rest.slice(first.length).trim()]];
  return wordsOf(rest).map((word) => {
    const equals = word.indexOf('=');
    if (equals < 1) throw new Refused('is not an assignment of variables');
    return [word.slice(0, equals), word.slice(equals + 1)];
  });
}
