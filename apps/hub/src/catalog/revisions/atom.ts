import type { ChangelogEntry } from './changelog.ts';

interface Feed {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  /** The folder of the page of the object. */
  readonly member: 'templates' | 'applications';
  /** The time of the newest change that the caller sees. */
  readonly updatedAt: Date;
  /** The URL of the hub for browsers; undefined if it is not known. */
  readonly publicUrl: string | undefined;
  readonly entries: readonly ChangelogEntry[];
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text in XML 1.0, without the characters that it cannot contain. */
const escaped = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML excludes
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '\ufffd')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');

/** A changelog as an Atom feed (RFC 4287). Messages are plain text. */
export function atomOf({ id, name, slug, member, updatedAt, publicUrl, entries }: Feed): string {
  const page = publicUrl === undefined ? undefined : new URL(`/${member}/${slug}`, publicUrl).href;
  const link = page === undefined ? [] : [`<link rel="alternate" type="text/html" href="${escaped(page)}"/>`];
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>urn:uuid:${id}</id>`,
    `<title>${escaped(name)}</title>`,
    `<updated>${updatedAt.toISOString()}</updated>`,
    '<author><name>Catalog</name></author>',
    ...link,
    ...entries.flatMap(({ revision, version, at, message, changed }) => [
      '<entry>',
      `<id>urn:uuid:${id}#${revision}</id>`,
      `<title>${escaped(`${name} ${version}`)}</title>`,
      `<updated>${at.toISOString()}</updated>`,
      ...link,
      `<content type="text">${escaped(textOf(message, changed))}</content>`,
      '</entry>',
    ]),
    '</feed>',
    '',
  ].join('\n');
}

const textOf = (message: string, changed: readonly string[] | null): string =>
  [message, changed && changed.length > 0 ? `Changed: ${changed.join(', ')}` : '']
    .filter((text) => text !== '')
    .join('\n\n');
