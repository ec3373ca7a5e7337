import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { programAt } from '../engine/at-hand.ts';
import { scaled } from '../run/deadlines.ts';

export type { BrowserContext, Page } from 'playwright-core';

/** The headless shell renders pages as the browser does, and needs a third of its processor time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

const program = (): string | undefined =>
  process.env.TEST_BROWSER_PATH ?? NAMES.map(programAt).find((file) => file !== undefined);

/**
 * Tests that need a real browser. Without one they are skipped, with the reason in their title;
 * with `TEST_BROWSER=required` they fail. No browser is ever downloaded.
 */
export function describeWithBrowser(title: string, tests: () => void): void {
  if (program() || process.env.TEST_BROWSER === 'required') describe(title, tests);
  else describe.skip(`${title} (skipped: no Chromium is installed)`, tests);
}

/** A page that records what nobody should have to read in the console of a browser. */
export interface TestPage extends Page {
  /**
   * Errors, warnings, violations of the content security policy, dialogs of scripts, and requests
   * to other origins.
   */
  readonly complaints: readonly string[];
}

export interface TestBrowser {
  /** Opens a page of a new profile. `origins` are those to which it may send requests. */
  open(origins: readonly string[], options?: BrowserContextOptions): Promise<TestPage>;
  /** Opens another tab of the same profile. */
  openTab(page: TestPage, origins: readonly string[]): Promise<TestPage>;
  close(): Promise<void>;
}

const TIMEOUT_MS = scaled(15_000);

export async function startBrowser(): Promise<TestBrowser> {
  const isRoot = process.getuid?.() === 0; // the sandbox of Chromium rejects root
  const browser = await chromium.launch({
    executablePath: program() ?? '',
    args: isRoot ? ['--no-sandbox'] : [],
  });
  const openIn = async (context: BrowserContext, origins: readonly string[]) => {
    const page = await context.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    return watch(page, origins);
  };
  return {
    open: async (origins, options = {}) =>
      openIn(
        await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-GB', ...options }),
        origins,
      ),
    openTab: (page, origins) => openIn(page.context(), origins),
    close: () => browser.close(),
  };
}

/**
 * Chromium reports each response with an error status. The tests assert how the console shows them.
 * It also aborts requests when the interfaces of the machine change, as engines change them for
 * containers; the console repeats these.
 */
const EXPECTED = /Failed to load resource: (?:the server responded with a status of 4\d\d|net::ERR_NETWORK_CHANGED)/;

/** The console loads the code of a page again if the browser aborts the request for it, and React logs the error. */
const CODE_ABORTED = /^Unreachable: The page could not be loaded\./;

/** The service ends the stream of changes when its session ends. */
const ENDED = /net::ERR_INCOMPLETE_CHUNKED_ENCODING/;
const STREAMS = /\/api\/v1\/changes(?:\?|$)/;

function watch(page: Page, origins: readonly string[]): TestPage {
  const complaints: string[] = [];
  const aborted: Request[] = [];
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText === 'net::ERR_NETWORK_CHANGED') aborted.push(request);
  });
  page.on('console', (message) => {
    const isExpected =
      EXPECTED.test(message.text()) ||
      (aborted.length > 0 && CODE_ABORTED.test(message.text())) ||
      (ENDED.test(message.text()) && STREAMS.test(message.location().url));
    const isComplaint = ['error', 'warning'].includes(message.type()) && !isExpected;
    if (isComplaint) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog of a script: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && !origins.includes(origin)) complaints.push(`request to ${origin}`);
  });
  loadAgain(page, aborted);
  return Object.assign(page, { complaints });
}

/** How often a page is loaded whose document or code the browser aborts. */
const LOADS = 10;
const CODE = ['document', 'script', 'stylesheet'];

/** Loads a page again if the browser aborts its document or its code. @param aborted the aborted requests until now */
function loadAgain(page: Page, aborted: readonly Request[]): void {
  const untilLoaded = async <T>(load: () => Promise<T>): Promise<T> => {
    for (let count = 1; ; count += 1) {
      const before = aborted.length;
      const isComplete = () => !aborted.slice(before).some((request) => CODE.includes(request.resourceType()));
      try {
        const response = await load();
        if (isComplete() || count === LOADS) return response;
      } catch (error) {
        if (isComplete() || count === LOADS) throw error;
      }
      await page.waitForTimeout(500);
    }
  };
  const goto = page.goto.bind(page);
  const reload = page.reload.bind(page);
  page.goto = (...given) => untilLoaded(() => goto(...given));
  page.reload = (...given) => untilLoaded(() => reload(...given));
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * The rules that axe applies: all for WCAG 2.2 AA, or the ones of these whose result depends on
 * colours.
 */
const RULES = {
  all: { type: 'tag', values: TAGS },
  colours: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
} as const;

interface Inspection {
  readonly rules?: keyof typeof RULES;
  /** A CSS selector of the elements to check; without it, the whole page. */
  readonly part?: string | undefined;
}

/**
 * The violations of WCAG 2.2 AA on a page as it is now, one line for each element. The debugger
 * adds axe once to a document, so that no policy prevents it.
 */
export async function accessibilityViolations(
  page: Page,
  { rules = 'all', part }: Inspection = {},
): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(`${axe}; undefined`);
  const context = part === undefined ? 'document' : JSON.stringify(part);
  const options = JSON.stringify({ runOnly: RULES[rules], resultTypes: ['violations'] });
  const violations = (await page.evaluate(
    `axe.run(${context}, ${options}).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes })))`,
  )) as AxeResults['violations']; // the result of this function of axe
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  );
}
