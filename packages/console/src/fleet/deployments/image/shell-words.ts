/** A word of a shell command, without its quotes. */
export interface ShellWord {
  readonly text: string;
  /** The shell would replace a part of it, such as `$HOME`. The text has this part as it is written. */
  readonly isExpanded: boolean;
}

export interface ShellCommand {
  readonly words: readonly ShellWord[];
  /** What follows the first command, such as a second command; '' if nothing follows. */
  readonly rest: string;
}

const OPERATORS = ';|&';
/** The characters that a backslash escapes between double quotes. */
const ESCAPED_IN_QUOTES = '$`"\\';
/** The characters that continue a line if they end it: in PowerShell and in the command prompt of Windows. */
const OTHER_CONTINUATIONS = '`^';

/**
 * Divides the first command of a text into words, as a POSIX shell does. `shell-quote` is not used,
 * because it replaces variables, and does not join lines that a backslash continues.
 */
export function splitShellCommand(source: string): ShellCommand {
  const text = source.replaceAll('\r\n', '\n');
  const words: ShellWord[] = [];
  /** Undefined between words. A pair of quotes begins a word, also an empty one. */
  let word: string | undefined;
  let isExpanded = false;
  let quote = '';
  const endWord = () => {
    if (word !== undefined) words.push({ text: word, isExpanded });
    word = undefined;
    isExpanded = false;
  };
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    const next = text.charAt(index + 1);
    if (quote === "'") {
      if (character === quote) quote = '';
      else word = `${word ?? ''}${character}`;
    } else if (character === '\\') {
      index += 1;
      const isKept = quote !== '' && next !== '\n' && !ESCAPED_IN_QUOTES.includes(next);
      if (next !== '\n') word = `${word ?? ''}${isKept ? '\\' : ''}${next}`;
    } else if (quote === '"') {
      if (character === quote) quote = '';
      else {
        isExpanded ||= character === '`' || (character === '$' && isName(next));
        word = `${word ?? ''}${character}`;
      }
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (OTHER_CONTINUATIONS.includes(character) && next === '\n') {
      index += 1;
    } else if (OPERATORS.includes(character) || character === '\n') {
      endWord();
      if (words.length > 0) return { words, rest: text.slice(index).replace(/^[;|&\s]+/, '') };
    } else if (character === ' ' || character === '\t') {
      endWord();
    } else if (character === '#' && word === undefined) {
      const end = text.indexOf('\n', index);
      index = end === -1 ? text.length : end - 1;
    } else {
      isExpanded ||=
        character === '`' || (character === '$' && isName(next)) || (character === '~' && word === undefined);
      word = `${word ?? ''}${character}`;
    }
  }
  endWord();
  return { words, rest: '' };
}

/** Whether a character after `$` begins the name of a variable or a substitution. */
const isName = (character: string): boolean => /^[A-Za-z_{(]$/.test(character);
