import type { TestPage } from '@svc/testing/browser';

/** Waits until a page shows its content instead of what it is loading. */
export async function settle(page: TestPage): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}

/** Opens another page of the console that a page shows, like a link: the document stays loaded. */
export async function visit(page: TestPage, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))'); // the page is replaced
  await settle(page);
}
