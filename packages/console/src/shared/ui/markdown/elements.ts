import type { Token, Tokens } from 'marked';
import { decodeEntities } from './entities.ts';
import { tagsIn } from './tags.ts';

/** An element of HTML that has no token of Markdown. */
export interface ElementToken {
  readonly type: 'element';
  readonly name: (typeof SHOWN)[number];
  raw: string;
  readonly tokens: Token[];
}

/** Elements that are shown as such. */
const SHOWN = ['details', 'summary', 'code', 'kbd', 'samp', 'sub', 'sup'] as const;

/** Elements that are shown as the Markdown for the same meaning. */
const AS_MARKDOWN: Readonly<Record<string, 'strong' | 'em' | 'del'>> = {
  b: 'strong',
  strong: 'strong',
  i: 'em',
  em: 'em',
  s: 'del',
  strike: 'del',
  del: 'del',
};

/** Elements that are part of a line. */
const INLINE = new Set([
  ...Object.keys(AS_MARKDOWN),
  ...SHOWN.filter((name) => name !== 'details' && name !== 'summary'),
  ...['a', 'abbr', 'cite', 'font', 'ins', 'mark', 'picture', 'q', 'small', 'span', 'tt', 'u', 'var'],
]);

const HEADING = /^h[1-6]$/;

/** Elements whose content is a line. */
const holdsLine = (name: string) => INLINE.has(name) || name === 'summary' || HEADING.test(name);

/** Elements whose content is no text for readers. */
const DROPPED = new Set(['script', 'style', 'template', 'title', 'iframe', 'object', 'noscript', 'svg', 'math']);

/** Elements that have no content. */
const VOID = new Set(['br', 'img', 'hr', 'input', 'wbr', 'source', 'link', 'meta', 'col', 'area', 'embed', 'base']);

/** An element that is not closed yet. */
interface Open {
  readonly name: string;
  readonly attributes: string;
  raw: string;
  readonly tokens: Token[];
  /** Texts and elements of a line, which become a paragraph between blocks. */
  line: Token[];
}

/**
 * Replaces the HTML of a sequence of tokens by tokens, as a forge shows it: comments disappear, and
 * the tags of unknown elements, but not their content. Attributes other than addresses and
 * alternative texts have no effect. `isBlock`: the tokens are blocks.
 */
export function withElements(tokens: readonly Token[], isBlock: boolean): Token[] {
  if (!tokens.some(({ type }) => type === 'html')) return [...tokens];
  const root: Open = { name: '', attributes: '', raw: '', tokens: [], line: [] };
  const open = [root];
  const top = () => open.at(-1) ?? root;
  const isInline = () => !isBlock || open.some(({ name }) => holdsLine(name));
  const add = (token: Token) => {
    const { line, tokens: blocks } = top();
    if (isInline()) blocks.push(token);
    else line.push(token);
  };
  const endLine = (element: Open) => {
    const { line, tokens: blocks } = element;
    if (line.some(({ type, raw }) => type !== 'text' || raw.trim() !== '')) {
      blocks.push({ type: 'paragraph', raw: rawOf(line), text: '', tokens: line });
    }
    element.line = [];
  };
  const close = () => {
    const element = open.pop();
    if (!element || element === root) return;
    endLine(element);
    const parent = top();
    parent.raw += element.raw;
    if (DROPPED.has(element.name)) return;
    const shown = tokenOf(element);
    const content = shown ? [shown] : element.tokens;
    if (INLINE.has(element.name)) {
      for (const token of content) add(token);
    } else {
      endLine(parent);
      parent.tokens.push(...content);
    }
  };
  const begin = (name: string, attributes: string, raw: string) => {
    if (name === 'br') add({ type: 'br', raw });
    else if (name === 'img') add(imageOf(attributes, raw));
    else if (!VOID.has(name)) open.push({ name, attributes, raw, tokens: [], line: [] });
  };
  const end = (name: string) => {
    // A tag that closes nothing has no effect.
    if (!open.some((element) => element.name === name)) return;
    while (top().name !== name) close();
    close();
  };
  for (const token of tokens) {
    if (token.type !== 'html') {
      endLine(top());
      top().raw += token.raw;
      top().tokens.push(token);
      continue;
    }
    let from = 0;
    const addText = (to: number) => {
      const raw = token.raw.slice(from, to);
      top().raw += raw;
      if (raw !== '') add({ type: 'text', raw, text: raw });
    };
    for (const { name, attributes, isEnd, ...place } of tagsIn(token.raw)) {
      addText(place.from);
      from = place.to;
      if (isEnd) end(name.toLowerCase());
      else if (name !== '') begin(name.toLowerCase(), attributes, token.raw.slice(place.from, place.to));
    }
    addText(token.raw.length);
  }
  while (open.length > 1) close();
  endLine(root);
  return root.tokens;
}

const rawOf = (tokens: readonly Token[]) => tokens.map(({ raw }) => raw).join('');

/** The token for an element; undefined if only its content is shown. */
function tokenOf({ name, attributes, raw, tokens }: Open): Token | ElementToken | undefined {
  const href = name === 'a' ? attributeOf('href', attributes) : undefined;
  if (href !== undefined) return { type: 'link', raw, href, text: '', tokens } satisfies Tokens.Link;
  if (HEADING.test(name)) return { type: 'heading', raw, depth: Number(name.slice(1)), text: '', tokens };
  const markdown = AS_MARKDOWN[name];
  if (markdown !== undefined) return { type: markdown, raw, text: '', tokens };
  const shown = SHOWN.find((one) => one === name);
  return shown && { type: 'element', name: shown, raw, tokens };
}

const imageOf = (attributes: string, raw: string): Token => ({
  type: 'image',
  raw,
  href: attributeOf('src', attributes) ?? '',
  text: attributeOf('alt', attributes) ?? '',
  title: null,
  tokens: [],
});

const ATTRIBUTE = /(?<![a-zA-Z-])([a-zA-Z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;

function attributeOf(name: string, attributes: string): string | undefined {
  for (const [, found = '', double, single, plain] of attributes.matchAll(ATTRIBUTE)) {
    if (found.toLowerCase() === name) return decodeEntities(double ?? single ?? plain ?? '');
  }
  return undefined;
}
