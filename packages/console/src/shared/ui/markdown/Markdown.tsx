import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode, useMemo } from 'react';
import { isWebUrl } from '../../routing/href.ts';
import { t } from '../../texts/texts.ts';
import { boundedTokens, headingIds, wordsOfTokens } from './bounded-markdown.ts';
import type { ElementToken } from './elements.ts';
import { decodeEntities } from './entities.ts';

/** The level of the highest heading of a text. The page has the level above. */
const TOP_LEVEL = 3;

/** Distinguishes the ids of headings from those of the page. */
const ID_PREFIX = 'doc-';

/**
 * The Markdown of a publisher as elements, as the forge shows it where the text was written. The
 * text is never parsed as HTML by the browser: each element is created here. Images are links,
 * links lead only to http(s) or to a heading, and nothing is loaded from other origins. A first
 * heading that repeats the title of the page is omitted. A text that is too large or too deep is
 * shown as it is.
 */
export function Markdown({ children, title }: { readonly children: string; readonly title: string }) {
  const all = useMemo(() => boundedTokens(children), [children]);
  const ids = useMemo(() => headingIds(all ?? []), [all]);
  if (!all) {
    return (
      <div className="prose">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
        <pre tabIndex={0}>{children}</pre>
      </div>
    );
  }
  const written = all.filter(({ type }) => type !== 'space');
  const [first] = written;
  const isTitle = first?.type === 'heading' && wordsOfTokens(first.tokens ?? []).trim() === title;
  const tokens = isTitle ? written.slice(1) : written;
  const highest = tokens.reduce((least, token) => Math.min(least, depthOf(token)), 6);
  return <div className="prose">{blocks(tokens, { shift: TOP_LEVEL - highest, ids })}</div>;
}

interface Context {
  /** The difference between the level of a heading in the page and in the text. */
  readonly shift: number;
  readonly ids: ReadonlyMap<Token, string>;
}

/** Parts of a text have no identity other than their position. */
const each = <T,>(items: readonly T[], shown: (item: T) => ReactNode): ReactNode =>
  items.map((item, index) => <Fragment key={String(index)}>{shown(item)}</Fragment>);

const blocks = (tokens: readonly Token[], context: Context): ReactNode =>
  each(tokens, (token) => block(token, context));

function block(token: Token, context: Context): ReactNode {
  switch (token.type) {
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading; // as `type` states
      // A heading in a quote or a list can be higher than all others.
      // The level is 3 to 6.
      const Heading = `h${Math.min(6, Math.max(TOP_LEVEL, depth + context.shift))}` as 'h3';
      return <Heading id={`${ID_PREFIX}${context.ids.get(token) ?? ''}`}>{inlines(tokens)}</Heading>;
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
            <li className={item.task ? 'task' : undefined}>{blocks(item.tokens, context)}</li>
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
      return <blockquote>{blocks((token as Tokens.Blockquote).tokens, context)}</blockquote>;
    case 'table':
      return <MarkdownTable {...(token as Tokens.Table) /* as `type` states */} />;
    case 'hr':
      return <hr />;
    case 'checkbox':
      return inline(token);
    case 'element': {
      const { name, tokens } = token as ElementToken; // as `type` states
      if (name === 'details') return <details>{blocks(tokens, context)}</details>;
      return name === 'summary' ? <summary>{inlines(tokens)}</summary> : <p>{inline(token)}</p>;
    }
    case 'space':
    case 'def':
      return null;
    default:
      return <p>{token.raw}</p>; // tokens that are too deep, and tokens of later versions
  }
}

const MarkdownTable = ({ header, rows }: Tokens.Table) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
  <div className="table-box" role="group" aria-label={t('Table')} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {each(header, ({ tokens, align }) => (
            <th scope="col" style={styleOf(align)}>
              {inlines(tokens)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {each(rows, (row) => (
          <tr>
            {each(row, ({ tokens, align }) => (
              <td style={styleOf(align)}>{inlines(tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const styleOf = (align: Tokens.TableCell['align']) => (align === null ? undefined : { textAlign: align });

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
    case 'link': {
      const { href, tokens } = token as Tokens.Link; // as `type` states
      return link(href, each(tokens, inLink));
    }
    case 'image': {
      const { href } = token as Tokens.Image; // as `type` states
      return link(href, inLink(token));
    }
    case 'checkbox':
      // `type` states the kind of the token.
      return <input type="checkbox" disabled checked={(token as Tokens.Checkbox).checked} aria-label={t('Task')} />;
    case 'element': {
      const { name, tokens } = token as ElementToken; // as `type` states
      if (name === 'details' || name === 'summary') return inlines(tokens);
      const Name = name;
      return <Name>{inlines(tokens)}</Name>;
    }
    case 'escape':
      return (token as Tokens.Escape).text; // as `type` states
    case 'paragraph':
    case 'heading':
      return inlines(token.tokens ?? []); // blocks in an element that is part of a line
    case 'text': {
      const { tokens, text } = token as Tokens.Text; // as `type` states
      return tokens ? inlines(tokens) : decodeEntities(text);
    }
    default:
      return token.raw;
  }
}

/** The content of a link. A badge is an image in a link: it is one link. */
function inLink(token: Token): ReactNode {
  // `type` states the kind of the token.
  if (token.type === 'image') return decodeEntities((token as Tokens.Image).text) || t('image');
  if (token.type === 'link') return each((token as Tokens.Link).tokens, inLink); // as `type` states
  return inline(token);
}

function link(address: string, words: ReactNode): ReactNode {
  if (address.startsWith('#')) return <a href={`#${ID_PREFIX}${address.slice(1)}`}>{words}</a>;
  if (!isWebUrl(address)) return words;
  return (
    <a href={address} target="_blank" rel="noreferrer noopener nofollow">
      {words}
    </a>
  );
}

/** The depth of a heading, 1 to 6; 6 for other tokens. */
const depthOf = (token: Token): number => (token.type === 'heading' && 'depth' in token ? Number(token.depth) : 6);
