// Debian's Chromium for the bench of the consoles and the screenshots.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { people } from './product.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

function findChromium() {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const files = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  const found = process.env.TEST_BROWSER_PATH ?? files.find((file) => fs.existsSync(file));
  if (!found) throw new Error(`This needs Chromium. Install ${NAMES[0]}, or set TEST_BROWSER_PATH.`);
  return found;
}

export const startBrowser = () =>
  chromium.launch({
    executablePath: findChromium(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [], // the sandbox of Chromium rejects root
  });

/** Signs in to a console by the identity provider. The page then shows `at`. */
export async function signIn(page, origin, { at = '/', email = people.admin } = {}) {
  await page.goto(origin + at);
  const button = page.getByRole('button', { name: /^(Continue with|Sign in$)/ }).first();
  await button.click();
  await page.waitForURL((url) => url.origin !== origin);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(people.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.origin === origin);
  await settle(page);
}

/** Waits until a page shows its content. */
export async function settle(page) {
  await page.locator('h1').first().waitFor();
  await page.locator('.loading').first().waitFor({ state: 'detached' });
}
