// Writes screenshots of all pages of the consoles, and an index of them, into docs/console.
//
//   pnpm console:screenshots [--only <part of a name>]
//
// The product runs with simulated hosts, services that run and that fail, and several
// organizations. Each page is shown light and dark on a desktop, and the main pages also on a
// phone. The images are WebP, so that all of them together stay small.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { settle, signIn, startBrowser } from './browser.mjs';
import { CPUS_PER_HOST, fillFleet, fillHub, HOSTS } from './demo.mjs';
import { writeIndex } from './index-page.mjs';
import { startProduct } from './product.mjs';
import { viewsOf } from './views.mjs';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const FOLDER = path.resolve(import.meta.dirname, '../../docs/console');
const DEVICES = {
  desktop: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};
const QUALITY = 60;

/** Writes an image of what the window shows. Playwright has no WebP. */
async function shoot(page, devtools, file) {
  await page.waitForTimeout(250); // the end of transitions
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  fs.writeFileSync(path.join(FOLDER, file), Buffer.from(data, 'base64'));
}

const product = await startProduct({ hosts: HOSTS, cpus: CPUS_PER_HOST });
let browser;
try {
  const demo = await fillFleet(product);
  await fillHub(product);
  browser = await startBrowser();
  const views = viewsOf(demo).filter(({ name }) => name.includes(values.only));
  if (values.only === '') {
    for (const file of fs.readdirSync(FOLDER)) if (/\.(png|webp)$/.test(file)) fs.rmSync(path.join(FOLDER, file));
  }
  const contexts = {};
  const pageFor = async ({ service, visitor = false }, device) => {
    const key = `${service} ${device}${visitor ? ' visitor' : ''}`;
    if (!contexts[key]) {
      const context = await browser.newContext({
        ...DEVICES[device],
        locale: 'en-GB',
        timezoneId: 'Europe/London',
      });
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      if (!visitor) {
        // On a phone, the button is in the navigation.
        await page.setViewportSize(DEVICES.desktop.viewport);
        await signIn(page, product[service]);
        await page.setViewportSize(DEVICES[device].viewport);
      }
      contexts[key] = { page, devtools: await context.newCDPSession(page) };
    }
    return contexts[key];
  };
  for (const view of views) {
    for (const device of Object.keys(DEVICES)) {
      if (device === 'phone' && !view.isMain) continue;
      const { page, devtools } = await pageFor(view, device);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(product[view.service] + view.path);
      await settle(page);
      await view.prepare?.(page);
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        await shoot(page, devtools, `${view.service}-${view.name}-${device}-${colorScheme}.webp`);
      }
    }
    console.log(`${view.service}: ${view.title}`);
  }
  if (values.only === '') writeIndex(FOLDER, viewsOf(demo));
} finally {
  await browser?.close();
  await product.stop();
}
