import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { TestPage } from '@svc/testing/browser';

const START = '<img id=injected src=x onerror=alert(1)><script>alert(2)</script>';
const END = '⁋';

/**
 * Markup, a script, a link with a script, a very long word, and controls that reverse the text
 * after it.
 */
const HOSTILE = `${START}[link](javascript:alert(3)) ${'W'.repeat(300)} \u202e\u2067fdp${END}`;

type Schema = Readonly<Record<string, unknown>>;
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Schema>>>> } & Schema;

const root = new URL('../../../../', import.meta.url);
const documents = {
  hub: JSON.parse(readFileSync(new URL('openapi/hub.json', root), 'utf8')) as Document, // generated
  fleet: JSON.parse(readFileSync(new URL('openapi/fleet.json', root), 'utf8')) as Document,
};

/**
 * Adds the hostile text to each text in the responses that a page receives: to all members that
 * OpenAPI describes as text without an enumeration or a format. Texts of the services with a syntax
 * of their own (cursors, quantities, times) keep it.
 */
export async function withHostileTexts(page: TestPage, service: 'hub' | 'fleet'): Promise<void> {
  const document = documents[service];
  await page.route(/\/api\/v1\//, async (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    const schema = responseSchema(document, request.method(), pathname);
    if (schema === undefined || request.headers().accept === 'text/event-stream') return route.fallback();
    // The browser adds this header only to requests that it sends itself.
    const headers = { ...request.headers(), 'sec-fetch-site': 'same-origin' };
    const response = await route.fetch({ headers });
    if (!response.ok() || !response.headers()['content-type']?.startsWith('application/json')) {
      return route.fulfill({ response });
    }
    await route.fulfill({ response, json: hostileCopy(await response.json(), schema, document, '') });
  });
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const memberOf = (value: unknown, name: string): unknown => (isSchema(value) ? value[name] : undefined);

function resolve(schema: unknown, document: Document): Schema {
  const reference = memberOf(schema, '$ref');
  if (typeof reference !== 'string') return isSchema(schema) ? schema : {};
  const found = reference.slice(2).split('/').reduce<unknown>(memberOf, document);
  return resolve(found, document);
}

function responseSchema(document: Document, method: string, pathname: string): Schema | undefined {
  const matches = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
  // A literal path precedes one with a parameter.
  const path = Object.keys(document.paths).filter(matches).sort()[0];
  const responses = memberOf(memberOf(document.paths[path ?? ''], method.toLowerCase()), 'responses');
  const response = ['200', '201'].map((status) => memberOf(responses, status)).find((one) => one !== undefined);
  const schema = memberOf(memberOf(memberOf(resolve(response, document), 'content'), 'application/json'), 'schema');
  return isSchema(schema) ? schema : undefined;
}

/** Texts that the services generate, and the reason why nobody can sign in. */
const NOT_TEXT = /cursor|prefix$|browser_session_refusal/;
const WITH_SYNTAX = /^(?:\d+(?:\.\d+)?[a-zA-Z]{0,2}|\d{4}-\d\d-\d\dT[\d:.]+Z|[\da-f]{8}-[\da-f-]{27})$/;

function hostileCopy(value: unknown, given: unknown, document: Document, name: string): unknown {
  const schema = resolve(given, document);
  const variants = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray)?.map((one) => resolve(one, document));
  const fitting = variants?.filter((one) => one.type === undefined || [one.type].flat().includes(typeOf(value))) ?? [];
  if (Array.isArray(value)) {
    const items = schema.items ?? fitting[0]?.items;
    return value.map((item) => hostileCopy(item, items, document, name));
  }
  if (isSchema(value)) {
    const all = [schema, ...fitting];
    const schemaOf = (member: string) =>
      all.map((one) => memberOf(one.properties, member)).find((one) => one !== undefined) ??
      all.map((one) => one.additionalProperties).find(isSchema);
    return Object.fromEntries(
      Object.entries(value).map(([member, one]) => [member, hostileCopy(one, schemaOf(member), document, member)]),
    );
  }
  const isText = [schema, ...fitting].some(
    (one) => [one.type].flat().includes('string') && !['enum', 'const', 'format'].some((keyword) => keyword in one),
  );
  if (typeof value !== 'string' || !isText || NOT_TEXT.test(name) || WITH_SYNTAX.test(value)) return value;
  return `${value} ${HOSTILE}`;
}

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/**
 * Runs in the page: which texts became something else than text, or change the order of other
 * texts. The first script of the head and the icons of templates are parts of the page.
 */
const INSPECT = `(() => {
  const problems = [];
  const where = (element) => element.tagName.toLowerCase() + '.' + element.className + ': ' + element.textContent.replace(/<img.*?⁋/gs, '…').slice(0, 80);
  for (const element of document.querySelectorAll('#injected, script:not([src]):not(head > script:first-child), iframe, object, embed, main img:not(.glyph > img[src^="/api/v1/"])')) {
    problems.push('element created from text: ' + where(element));
  }
  for (const link of document.querySelectorAll('a[href]')) {
    if (!/^https?:$/.test(link.protocol) && link.protocol !== 'mailto:') problems.push('link with a script: ' + where(link));
  }
  const closest = (element, matches) => matches(element, getComputedStyle(element)) ? element : closest(element.parentElement, matches);
  const isIsolated = (_, { display, unicodeBidi }) => /isolate|plaintext/.test(unicodeBidi) || !/^(?:inline|contents)$/.test(display);
  const isParagraph = (_, { display }) => !/^(?:inline|contents)/.test(display);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.data.includes('${END}')) continue;
    count += 1;
    if (!text.data.includes('\\u202e')) continue; // the page shows such controls in another way
    // A text area shows the plain text that the user edits, and cannot isolate parts of it.
    if (text.parentElement.matches('textarea')) continue;
    const element = closest(text.parentElement, isIsolated);
    const paragraph = closest(element, isParagraph);
    const others = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let after = text.data.slice(text.data.lastIndexOf('${END}') + 1);
    others.currentNode = text;
    while (others.nextNode()) {
      if (closest(others.currentNode.parentElement, isParagraph) === paragraph) after += others.currentNode.data;
    }
    if (after.trim() !== '') problems.push('text after a text that is not isolated: ' + where(element));
  }
  return { count, problems: [...new Set(problems)] };
})()`;

/**
 * Runs in the page: how wide it is, and the first element that reaches out of the window and does
 * not scroll.
 */
const WIDEST = `(() => {
  const isOutside = (element) => element.getBoundingClientRect().right > innerWidth && element.getClientRects().length > 0;
  const scrolls = (element) => element && (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
  const leaf = [...document.querySelectorAll('body *')].find((element) => isOutside(element) && !scrolls(element.parentElement) && ![...element.children].some(isOutside));
  return { width: document.documentElement.scrollWidth, by: leaf ? leaf.tagName + '.' + leaf.className : '' };
})()`;

const WIDTHS = [360, 1280] as const;

/** The problems of a page that shows hostile texts, and how many of its texts are hostile. */
export async function inspectTexts(page: TestPage): Promise<{ readonly count: number; readonly problems: string[] }> {
  // The expression returns this shape.
  const found = (await page.evaluate(INSPECT)) as { count: number; problems: string[] };
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const widest = (await page.evaluate(WIDEST)) as { width: number; by: string }; // see above
    if (widest.width > width) found.problems.push(`${widest.width} px wide in a window of ${width} px: ${widest.by}`);
  }
  return found;
}

/** What the content security policy must prevent, as scripts of an attacker would try it. */
const ATTACKS: Readonly<Record<string, string>> = {
  'an inline script':
    "document.body.append(Object.assign(document.createElement('script'), { text: 'document.title = 1' }))",
  'a script of another origin':
    "document.body.append(Object.assign(document.createElement('script'), { src: 'https://elsewhere.example/x.js' }))",
  'an event handler': "document.body.setAttribute('onclick', 'document.title = 1')",
  'markup from text': "document.body.innerHTML = '<b>'",
  'code from text': "setTimeout('document.title = 1')",
  'an image of another origin': "new Image().src = 'https://elsewhere.example/x.png'",
  'a request to another origin': "void fetch('https://elsewhere.example/').catch(() => undefined)",
};

/**
 * Expects that the policy of the page prevents each attack, and that the page records it as a
 * complaint.
 */
export async function expectPolicy(page: TestPage): Promise<void> {
  const title = await page.title();
  for (const [attack, code] of Object.entries(ATTACKS)) {
    const before = page.complaints.length;
    // The code runs as a task of the page: the policy exempts what the debugger evaluates itself.
    await page.evaluate(
      `new Promise((resolve) => setTimeout(() => { try { ${code} } catch {} setTimeout(resolve, 20) }))`,
    );
    expect({ attack, isReported: page.complaints.length > before }).toEqual({ attack, isReported: true });
  }
  expect(await page.title()).toBe(title);
}
