import type { TestPage } from '@svc/testing/browser';

const START = '⟦';
const END = '⟧';

/** A compiled message is a list of elements, of which those of the type 0 are texts. */
type Catalogue = Readonly<Record<string, string | readonly object[]>>;

/**
 * Chooses another language, whose messages then have marks, so that texts that are not in its
 * catalogue can be recognized.
 */
export async function markTexts(page: TestPage): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  const [file] = await Promise.all([
    page.waitForResponse(/\/assets\/de-[^/]+\.js$/),
    page.getByRole('menuitemradio', { name: 'Deutsch' }).click(),
  ]);
  // The build writes this catalogue.
  const catalogue = (await page.evaluate(`import('${file.url()}').then((module) => module.default)`)) as Catalogue;
  const marked = Object.entries(catalogue).map(([text, message]) => [text, markedMessage(message)]);
  const body = `export default ${JSON.stringify(Object.fromEntries(marked))};`;
  await page.route(file.url(), (route) => route.fulfill({ contentType: 'text/javascript', body }));
  await page.reload();
}

const markedMessage = (message: Catalogue[string]) =>
  typeof message === 'string'
    ? START + message + END
    : [{ type: 0, value: START }, ...message, { type: 0, value: END }];

/** Longer values are documents, which contain any word. Pages show them as prose. */
const MAX_VALUE = 300;

/** Returns a function for the words of the values that the API has sent to a page. */
export function collectValues(page: TestPage): () => Promise<ReadonlySet<string>> {
  const words = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === 'string') {
      if (value.length <= MAX_VALUE) for (const word of wordsOf(value)) words.add(word);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (name === 'labels') collect(Object.keys(Object(member))); // users choose them
        collect(member);
      }
    }
  };
  const bodies: Promise<void>[] = [];
  page.on('response', (response) => {
    const isJson = /json/.test(response.headers()['content-type'] ?? '');
    // A page that was left has no bodies.
    if (isJson) bodies.push(response.json().then(collect, () => undefined));
  });
  return async () => {
    await Promise.all(bodies);
    return words;
  };
}

/** The words of a text; `ImagePullFailed` and `not_ready` contain several. */
const wordsOf = (text: string): readonly string[] =>
  text
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/\p{L}{2,}/gu) ?? [];

/** Names, methods and units that are the same in each language. */
const SAME = new Set(['fleet', 'hub', 'get', 'post', 'put', 'delete', 'ki', 'kib', 'mib', 'gib', 'tib']);

/** The texts of a page that neither have marks nor consist of values. */
export async function unmarkedTexts(
  page: TestPage,
  valuesOf: () => Promise<ReadonlySet<string>>,
): Promise<readonly string[]> {
  const texts = (await page.evaluate(FIND)) as readonly string[]; // as the script returns them
  const values = await valuesOf();
  return texts.filter((text) => wordsOf(text).some((word) => !values.has(word) && !SAME.has(word)));
}

const FIND = `(() => {
  let depth = 0;
  const unmarked = (text) => [...text].filter((one) => {
    if (one === '${START}') depth += 1;
    if (one === '${END}') depth -= 1;
    return depth === 0 && one !== '${END}';
  }).join('');
  const found = [unmarked(document.title)];
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) {
    const { data, parentElement } = nodes.currentNode;
    const text = unmarked(data);
    if (!parentElement.closest('code, kbd, pre, script, noscript, style, textarea, time, .avatar, .glyph, .prose, .diff')) found.push(text);
  }
  for (const name of ['title', 'placeholder', 'aria-label', 'aria-description', 'alt']) {
    for (const element of document.querySelectorAll('[' + name + ']')) {
      const isCode = element.matches('time, input[placeholder], textarea');
      if (!isCode) found.push(unmarked(element.getAttribute(name)));
    }
  }
  return found.map((text) => text.trim()).filter((text) => text !== '');
})()`;
