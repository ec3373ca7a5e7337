import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { byDepth, eventually, scaled } from '@svc/testing';
import { accessibilityViolations, startBrowser, type TestBrowser, type TestPage } from '@svc/testing/browser';
import { people } from '../../src/environments.ts';
import { aProduct, freePorts, type Product } from '../start/product.ts';
import { keysOf } from './keys.ts';

/** The whole product, and a browser. */
export interface ConsoleWorld {
  readonly product: Product;
  readonly browser: TestBrowser;
  readonly hub: string;
  readonly fleet: string;
  readonly origins: readonly string[];
  /** Opens a page in a new profile of the browser. */
  open(origin: string, path: string, options?: Parameters<TestBrowser['open']>[1]): Promise<TestPage>;
  /** Sends a request as the administrator of the service. */
  call(request: ApiRequest): Promise<unknown>;
  stop(): Promise<void>;
}

interface ApiRequest {
  readonly service: 'hub' | 'fleet';
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

/** @param engine the endpoint of an engine, which the product registers as the host `local` */
export async function startConsoleWorld(engine?: string): Promise<ConsoleWorld> {
  const parent = fs.mkdtempSync(path.join(tmpdir(), 'console-'));
  // If root runs the tests, PostgreSQL runs as another user, which must be able to enter the
  // folder.
  fs.chmodSync(parent, 0o711);
  const product = await aProduct(path.join(parent, '.data'), await freePorts(), { engine });
  const { HUB_URL: hub = '', FLEET_URL: fleet = '', IDP_URL: identityProvider = '' } = product.demo;
  const browser = await startBrowser();
  const origins = [hub, fleet, identityProvider];
  const tokens = { hub: product.demo.HUB_ADMIN_JWT, fleet: product.demo.FLEET_ADMIN_TOKEN };
  return {
    product,
    browser,
    hub,
    fleet,
    origins,
    open: async (origin, at, options) => {
      const page = await browser.open(origins, options);
      await page.goto(origin + at);
      return page;
    },
    call: async ({ service, method, path: at, body }) => {
      const response = await fetch(`${service === 'hub' ? hub : fleet}/api/v1${at}`, {
        method,
        headers: { authorization: `Bearer ${tokens[service]}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
    stop: async () => {
      await browser.close();
      product.kill('SIGTERM');
      await product.end();
      fs.rmSync(parent, { recursive: true });
    },
  };
}

/**
 * `fetch` for scripts of a page. Each container that starts changes the network of the machine, for which the browser aborts
 * requests in progress, so they are sent again.
 */
export const FETCH = `(async (path, options) => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetch(path, options);
    } catch (error) {
      if (attempt === 10) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
})`;

/** What a page complains about, except what an engine causes: the usage of an instance cannot be read while it is removed. */
export const complaintsWithEngine = ({ complaints }: TestPage): readonly string[] =>
  complaints.filter((one) => !one.includes('a status of 503'));

/** Waits until a page shows an element. The error states what it shows instead. */
export async function untilShows(page: TestPage, element: ReturnType<TestPage['locator']>, timeout: number) {
  await element.waitFor({ timeout }).catch(async (cause) => {
    throw new Error(`${page.url()} shows: ${await page.locator('main').textContent()}`, { cause });
  });
}

/** Checks a host in its form until the engine responds, because a busy one can need longer than the check waits. */
export async function untilHostIsFound(page: TestPage): Promise<void> {
  const add = page.getByRole('button', { name: 'Add the host' });
  const again = page.getByRole('button', { name: 'Check again' });
  const found = async () => {
    if (await add.isVisible()) return true;
    // The form may have replaced the button.
    await again.click({ timeout: scaled(1000) }).catch(() => undefined);
    return false;
  };
  await eventually('the engine responds to the check', found, { until: Boolean });
}

/** Signs in at the identity provider, from a page that offers it. */
export async function signInAtProvider(page: TestPage, email = people.admin): Promise<void> {
  const { origin } = new URL(page.url());
  await page
    .getByRole('button', { name: /^(Continue with|Sign in$)/ })
    .first()
    .click();
  // The console can have fields with the same labels.
  await page.waitForURL((url) => url.origin !== origin);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(people.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await returned(page, origin);
}

/** The console is shown when it has exchanged the code of the sign-in for a session. */
async function returned(page: TestPage, origin: string): Promise<void> {
  // The browser gives up a request when the interfaces of the machine change, as engines change them. A person then loads it again.
  const address = async () => {
    if (page.url().startsWith('chrome-error:')) await page.reload().catch(() => undefined);
    return page.url();
  };
  await eventually('the browser is back at the console', address, { until: (url) => url.startsWith(`${origin}/`) });
  await page.locator('#root > *').first().waitFor();
}

/** The same with the keyboard alone. */
export async function signInByKeys(page: TestPage, email = people.admin): Promise<void> {
  const { origin } = new URL(page.url());
  const keys = keysOf(page);
  await keys.press(page.getByRole('button', { name: /^(Continue with|Sign in$)/ }).first());
  await page.waitForURL((url) => url.origin !== origin);
  await keys.fill(page.getByLabel('E-mail'), email);
  await keys.fill(page.getByLabel('Password'), people.password);
  await page.keyboard.press('Enter');
  await returned(page, origin);
}

const WIDEST = 3840;
const WIDTHS = [360, 1280, WIDEST] as const;
/** The schemes differ only in colours, so that the dark one needs few rules at depth short. */
const SCHEMES = [
  { colorScheme: 'light', rules: 'all' },
  { colorScheme: 'dark', rules: byDepth<'all' | 'colours'>({ short: 'colours', full: 'all', long: 'all' }) },
] as const;

interface Inspection {
  /** Widths of the window, in pixels of CSS. */
  readonly widths?: readonly number[];
  /** A CSS selector of the elements to check with axe; without it, the whole page. */
  readonly part?: string;
}

/**
 * The problems of a page as it is now, in both colour schemes and several widths: violations of
 * WCAG 2.2 AA, and a page that is wider than the window.
 */
export async function findProblems(
  page: TestPage,
  { widths = WIDTHS, part }: Inspection = {},
): Promise<readonly string[]> {
  const before = page.viewportSize() ?? { width: 1280, height: 900 };
  const problems: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: width === WIDEST ? 2160 : 900 });
    const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (wide > width) problems.push(`the page is ${wide} px wide in a window of ${width} px`);
    for (const { colorScheme, rules } of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const violations = await accessibilityViolations(page, { rules, part });
      problems.push(...violations.map((violation) => `${width} px, ${colorScheme}: ${violation}`));
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(before);
  return problems;
}

/**
 * Opens the dialogs of a page by its buttons and by its first menu, and adds the problems of each
 * to `found`, by title. The page stays as it is.
 */
export async function findProblemsOfDialogs(page: TestPage, found: Record<string, readonly string[]>): Promise<void> {
  const opener = '[aria-haspopup="dialog"]:not([aria-disabled="true"])';
  const inspect = async () => {
    const dialog = page.getByRole('dialog');
    const title = (await dialog.getByRole('heading').first().textContent()) ?? '';
    found[title] ??= await findProblems(page, { widths: [360], part: 'dialog[open]' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  };
  const buttons = page.getByRole('main').locator(`button${opener}`);
  for (let index = 0; index < (await buttons.count()); index += 1) {
    await buttons.nth(index).click();
    await inspect();
  }
  const menu = page
    .getByRole('main')
    .getByRole('button', { name: /^Actions for / })
    .first();
  if ((await menu.count()) === 0) return;
  const items = page.locator(`[role="menuitem"]${opener}`);
  for (let index = 0, count = 1; index < count; index += 1) {
    await menu.click();
    await page.getByRole('menuitem').first().waitFor();
    count = await items.count();
    if (count > index) {
      await items.nth(index).click();
      await inspect();
    } else await page.keyboard.press('Escape');
  }
}
