import type { Description } from '../application.ts';
import type { Conversion, Key } from '../compose/context.ts';

/** A comment such as `# port: 2368` at the beginning of a template. */
interface Comment {
  readonly line: number;
  readonly name: string;
  readonly value: string;
}

const MAX_LINES = 64;
const MAX_VALUE = 4000;
const COMMENT = /^#\s?([a-z_]+):(.*)$/;

/** The comments before the first member. */
function commentsIn(text: string): Comment[] {
  const comments: Comment[] = [];
  for (const [index, line] of text.split('\n', MAX_LINES).entries()) {
    if (line.trim() !== '' && !line.startsWith('#')) break;
    const [, name, value = ''] = COMMENT.exec(line) ?? [];
    if (name !== undefined) comments.push({ line: index + 1, name, value: unquoted(value.trim()).slice(0, MAX_VALUE) });
  }
  return comments;
}

const unquoted = (value: string): string => (/^"[^"]*"$|^'[^']*'$/.test(value) ? value.slice(1, -1) : value);

interface Header {
  /** The port of the program with the address; undefined: it is not stated. */
  readonly port: number | undefined;
  /** Records the fates of the comments. @returns what they say for a catalog */
  readonly report: (conversion: Conversion) => Description;
}

const DESCRIPTION = ['slogan', 'documentation', 'category', 'tags'];
const CATALOG = ['logo', 'ignore'];
const PROJECT = ['minversion', 'amd_only', 'env_file', 'ports'];

const MAX_TAG = 64;

/** What the comments at the beginning of a template state. */
export function headerOf(text: string): Header {
  const comments = commentsIn(text);
  const textOf = (name: string) => comments.find((comment) => comment.name === name)?.value ?? '';
  const [digits] = /^\d{1,5}/.exec(textOf('port')) ?? [];
  const tags = textOf('tags')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '' && tag.length <= MAX_TAG);
  const category = textOf('category').toLowerCase();
  return {
    port: digits === undefined ? undefined : Number(digits),
    report: (conversion) => {
      for (const { line, name, value } of comments) {
        const key: Key = { part: null, path: [`# ${name}`], tree: { kind: 'text', line, text: value, isNull: false } };
        if (name === 'port' || DESCRIPTION.includes(name)) conversion.same(key);
        else if (CATALOG.includes(name)) conversion.harmless(key, 'catalog');
        else if (PROJECT.includes(name)) conversion.harmless(key, 'project');
      }
      return {
        ...(textOf('slogan') !== '' && { description: textOf('slogan') }),
        ...(textOf('documentation') !== '' && { documentation: textOf('documentation') }),
        ...(/^[a-z][a-z0-9-]{0,62}$/.test(category) && { category }),
        ...(tags.length > 0 && { tags }),
      };
    },
  };
}
