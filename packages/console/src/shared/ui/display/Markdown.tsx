import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode, useMemo } from 'react';
import { t } from '../../texts/texts.ts';
import { boundedTokens } from './bounded-markdown.ts';

/** The level of the highest heading of a text. The page has the level above. */
const TOP_LEVEL = 3;

/**
 * The Markdown of a publisher as elements. HTML is shown as text, images as links, and links lead
 * only to http(s): the text is never parsed as HTML, and nothing is loaded from other origins. A
 * first heading that repeats the title of the page is omitted. A text that is too large or too deep
 * is shown as it is.
 */
export function Markdown({ children, title }: { readonly children: string; readonly title: string }) {
  const all = useMemo(() => boundedTokens(children), [children]);
  if (!all) {
    return (
      <div className="prose">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
        <pre tabIndex={0}>{children}</pre>
      </div>
    );
  }
  const [first] = all;
  // `type` states the kind of the token.
  const isTitle = first?.type === 'heading' && (first as Tokens.Heading).text.trim() === title;
  const tokens = isTitle ? all.slice(1) : all;
  const highest = tokens.reduce((least, token) => Math.min(least, depthOf(token)), 6);
  return <div className="prose">{blocks(tokens, TOP_LEVEL - highest)}</div>;
}

/** Parts of a text have no identity other than their position. */
const each = <T,>(items: readonly T[], shown: (item: T) => ReactNode): ReactNode =>
  items.map((item, index) => <Fragment key={String(index)}>{shown(item)}</Fragment>);

const blocks = (tokens: readonly Token[], shift: number): ReactNode => each(tokens, (token) => block(token, shift));

function block(token: Token, shift: number): ReactNode {
  switch (token.type) {
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading; // as `type` states
      // A heading in a quote or a list can be higher than all others.
      // The level is 3 to 6.
      const Heading = `h${Math.min(6, Math.max(TOP_LEVEL, depth + shift))}` as 'h3';
      return <Heading>{inlines(tokens)}</Heading>;
    }
    case 'paragraph':
      return <p>{inlines((token as Tokens.Paragraph).tokens)}</p>; // as `type` states
    case 'text':
      return inlines((token as Tokens.Text).tokens ?? [token]); // as `type` states
    case 'list': {
      const { ordered, start, items } = token as Tokens.List; // as `type` states
      const List = ordered ? 'ol' : 'ul';
      return (
        <List {...(ordered && start !== '' ? { start } : {})}>
          {each(items, (item) => (
            <li>{blocks(item.tokens, shift)}</li>
          ))}
        </List>
      );
    }
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
        <pre tabIndex={0}>
          <code>{(token as Tokens.Code).text /* as `type` states */}</code>
        </pre>
      );
    case 'blockquote':
      // `type` states the kind of the token.
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens, shift)}</blockquote>;
    case 'table':
      return <MarkdownTable {...(token as Tokens.Table) /* as `type` states */} />;
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    default:
      return <p>{token.raw}</p>; // HTML, tokens that are too deep, and tokens of later versions
  }
}

const MarkdownTable = ({ header, rows }: Tokens.Table) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
  <div className="table-box" role="group" aria-label={t('Table')} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {each(header, ({ tokens }) => (
            <th scope="col">{inlines(tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {each(rows, (row) => (
          <tr>
            {each(row, ({ tokens }) => (
              <td>{inlines(tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const inlines = (tokens: readonly Token[]): ReactNode => each(tokens, inline);

function inline(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inlines((token as Tokens.Strong).tokens)}</strong>; // as `type` states
    case 'em':
      return <em>{inlines((token as Tokens.Em).tokens)}</em>; // as `type` states
    case 'del':
      return <del>{inlines((token as Tokens.Del).tokens)}</del>; // as `type` states
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>; // as `type` states
    case 'br':
      return <br />;
    case 'link':
      // `type` states the kind of the token.
      return link((token as Tokens.Link).href, inlines((token as Tokens.Link).tokens));
    case 'image':
      // `type` states the kind of the token.
      return link((token as Tokens.Image).href, (token as Tokens.Image).text || t('image'));
    case 'escape':
      return (token as Tokens.Escape).text; // as `type` states
    case 'text': {
      const { tokens, text } = token as Tokens.Text; // as `type` states
      return tokens ? inlines(tokens) : decodeEntities(text);
    }
    default:
      return token.raw;
  }
}

function link(address: string, words: ReactNode): ReactNode {
  const isSafe = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
  if (!isSafe) return words;
  return (
    <a href={address} target="_blank" rel="noreferrer noopener nofollow">
      {words}
    </a>
  );
}

/** The lexer does not decode entities. These are the common ones. */
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const decodeEntities = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');

/** The depth of a heading, 1 to 6; 6 for other tokens. */
const depthOf = (token: Token): number => (token.type === 'heading' && 'depth' in token ? Number(token.depth) : 6);
