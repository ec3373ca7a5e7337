import { scaled } from '@svc/testing';
import type { TestPage } from '@svc/testing/browser';

const LIMIT_MS = scaled(30_000);

/** Waits until a page shows its content instead of what it is loading. */
export async function settle(page: TestPage): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}

/**
 * Opens another page of the console that a page shows, like a link: the document stays loaded. The
 * page itself waits for its content, because locators look for it only every 500 ms after a while.
 */
export async function visit(page: TestPage, path: string): Promise<void> {
  await page.evaluate(`new Promise((resolve, reject) => {
    history.pushState(null, '', ${JSON.stringify(path)});
    const start = performance.now();
    const check = () => {
      if (document.querySelector('h1') && !document.querySelector('.loading')) resolve();
      else if (performance.now() - start > ${LIMIT_MS}) reject(new Error(${JSON.stringify(`${path} still loads`)}));
      else setTimeout(check, 20);
    };
    requestAnimationFrame(() => setTimeout(check)); // the page is replaced
  })`);
}
