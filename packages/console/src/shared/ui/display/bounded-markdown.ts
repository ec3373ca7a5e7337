import { lexer, type Token, type Tokens } from 'marked';

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
 * parts. Undefined if the text is too large or too deep, and is to be shown as it is.
 */
export function boundedTokens(text: string): readonly Token[] | undefined {
  if (text.length > MAX_CHARACTERS || NESTED.test(text)) return undefined;
  try {
    const tokens = lexer(text);
    return limitDepth(tokens, 1) > MAX_TOKENS ? undefined : tokens;
  } catch {
    return undefined; // the recursion of the lexer exceeded the stack
  }
}

/**
 * Replaces the tokens that are too deep. Returns the number of tokens, items and cells that remain.
 */
function limitDepth(tokens: Token[], depth: number): number {
  let count = tokens.length;
  for (const [index, token] of tokens.entries()) {
    const parts = partsOf(token);
    if (parts.length === 0) continue;
    if (depth === MAX_DEPTH) tokens[index] = { type: 'raw', raw: token.raw };
    else for (const part of parts) count += 1 + limitDepth(part, depth + 1);
  }
  return count;
}

function partsOf(token: Token): Token[][] {
  // `type` states the kind of the token.
  if (token.type === 'list') return (token as Tokens.List).items.map(({ tokens }) => tokens);
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table; // as `type` states
    return [header, ...rows].flatMap((row) => row.map(({ tokens }) => tokens));
  }
  return 'tokens' in token && token.tokens ? [token.tokens] : [];
}
