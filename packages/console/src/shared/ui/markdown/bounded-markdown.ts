import { lexer, type Token, type Tokens } from 'marked';
import { withElements } from './elements.ts';
import { decodeEntities } from './entities.ts';

/** Longer texts are not parsed: the time of the lexer is more than linear. */
const MAX_CHARACTERS = 50_000;
const MAX_DEPTH = 20;
const MAX_TOKENS = 10_000;

/**
 * A line that begins with more than `MAX_DEPTH` nested quotes and lists, in the lexer the deepest
 * recursion for the fewest characters.
 */
const NESTED = new RegExp(`^[ \\t]*(?:>[ \\t]*|(?:[-*+]|\\d{1,9}[.)])[ \\t]+){${MAX_DEPTH + 1}}`, 'm');

/**
 * The tokens of a text, at most `MAX_DEPTH` levels deep: deeper ones have the type `raw` and no
 * parts. HTML is replaced by tokens. Undefined if the text is too large or too deep, and is to be
 * shown as it is.
 */
export function boundedTokens(text: string): readonly Token[] | undefined {
  if (text.length > MAX_CHARACTERS || NESTED.test(text)) return undefined;
  try {
    const count = { tokens: 0 };
    const tokens = bounded(lexer(withoutFrontMatter(text)), { depth: 1, isBlock: true, count });
    return count.tokens > MAX_TOKENS ? undefined : tokens;
  } catch {
    return undefined; // the recursion of the lexer exceeded the stack
  }
}

/** A text without a byte order mark and without metadata in YAML at its start. */
function withoutFrontMatter(given: string): string {
  const text = given.replace(/^\ufeff/, '');
  const [first = '', ...lines] = text.split('\n');
  if (first.trimEnd() !== '---' || !/^[\w-]+[ \t]*:/.test(lines[0] ?? '')) return text;
  const end = lines.findIndex((line) => /^(?:---|\.\.\.)\s*$/.test(line));
  return end === -1 ? text : lines.slice(end + 1).join('\n');
}

interface Level {
  readonly depth: number;
  readonly isBlock: boolean;
  /** The number of tokens, items and cells so far. */
  readonly count: { tokens: number };
}

/** Replaces HTML, and the tokens that are too deep. */
function bounded(given: readonly Token[], { depth, isBlock, count }: Level): Token[] {
  const tokens = withElements(given, isBlock);
  count.tokens += tokens.length;
  return tokens.map((token) => {
    const parts = partsOf(token);
    if (parts.length === 0) return token;
    if (depth === MAX_DEPTH) return { type: 'raw', raw: token.raw };
    for (const part of parts) {
      count.tokens += 1;
      part.tokens = bounded(part.tokens, { depth: depth + 1, isBlock: isBlock && holdsBlocks(token), count });
    }
    return token;
  });
}

interface Part {
  tokens: Token[];
}

function partsOf(token: Token): Part[] {
  // `type` states the kind of the token.
  if (token.type === 'list') return (token as Tokens.List).items;
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table; // as `type` states
    return [header, ...rows].flat();
  }
  // A token with parts can be changed.
  return 'tokens' in token && token.tokens && token.type !== 'image' ? [token as Part] : [];
}

const holdsBlocks = (token: Token): boolean =>
  token.type === 'list' || token.type === 'blockquote' || (token.type === 'element' && token.name === 'details');

/** The words of tokens, without their marks. */
export const wordsOfTokens = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => {
      const [part] = partsOf(token);
      if (part) return wordsOfTokens(part.tokens);
      return 'text' in token ? decodeEntities(String(token.text)) : '';
    })
    .join('');

/**
 * The ids of headings, as links in a page name them: in lower case, without punctuation, with a
 * number if an earlier heading has the same words.
 */
export function headingIds(tokens: readonly Token[]): ReadonlyMap<Token, string> {
  const ids = new Map<Token, string>();
  const used = new Map<string, number>();
  const visit = (all: readonly Token[]) => {
    for (const token of all) {
      if (token.type === 'heading') {
        const slug = wordsOfTokens(token.tokens ?? [])
          .trim()
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
          .replaceAll(' ', '-');
        const count = used.get(slug) ?? 0;
        used.set(slug, count + 1);
        ids.set(token, count === 0 ? slug : `${slug}-${count}`);
      } else if (holdsBlocks(token)) for (const part of partsOf(token)) visit(part.tokens);
    }
  };
  visit(tokens);
  return ids;
}
