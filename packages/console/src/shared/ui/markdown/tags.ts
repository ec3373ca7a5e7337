/** A tag of an element in HTML. */
interface Tag {
  /** Where it begins and ends in the text. */
  readonly from: number;
  readonly to: number;
  readonly isEnd: boolean;
  /** Empty for a comment. */
  readonly name: string;
  readonly attributes: string;
}

const NAME = /^[a-zA-Z][a-zA-Z\d-]*/;
const MAX_NAME = 40;
/** A longer tag is text. The limit makes the time linear in the length of the text. */
const MAX_TAG = 4000;

/** The tags and comments of HTML, in their order. A comment without an end reaches to the end of the text. */
export function* tagsIn(html: string): Generator<Tag> {
  for (let at = html.indexOf('<'); at !== -1; ) {
    const tag = html.startsWith('<!--', at) ? commentAt(html, at) : tagAt(html, at);
    if (tag) yield tag;
    at = html.indexOf('<', tag?.to ?? at + 1);
  }
}

function commentAt(html: string, from: number): Tag {
  const end = html.indexOf('-->', from);
  return { from, to: end === -1 ? html.length : end + '-->'.length, isEnd: false, name: '', attributes: '' };
}

function tagAt(html: string, from: number): Tag | undefined {
  const isEnd = html[from + 1] === '/';
  const begin = from + (isEnd ? 2 : 1);
  const [name = ''] = NAME.exec(html.slice(begin, begin + MAX_NAME)) ?? [];
  if (name === '') return undefined;
  let quote = '';
  for (let at = begin + name.length; at < Math.min(html.length, from + MAX_TAG); at += 1) {
    const character = html[at] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '<') return undefined;
    else if (character === '>') {
      return { from, to: at + 1, isEnd, name, attributes: html.slice(begin + name.length, at) };
    }
  }
  return undefined;
}
