import { expect, test } from '@jest/globals';
import { eventually, scaled } from '@svc/testing';
import type { TestPage } from '@svc/testing/browser';
import type { TestEngine } from '@svc/testing/engine';
import { type ConsoleWorld, findProblems, signInAtProvider, untilShows } from './console-world.ts';
import { countClicks } from './fleet-flows.ts';

const CHANGE_MS = scaled(60_000);
const MAX_CLICKS = 8;
const PASSWORD = 'change-me-please';

/** A program and its database, which has its records in a volume and gives them to those who know the password. */
const composeFile = (image: string) => `
services:
  database:
    image: ${image}
    command:
      - /bin/sh
      - -c
      - mkdir -p "/data/$$DB_PASSWORD" && echo kept > "/data/$$DB_PASSWORD/index.html" && exec httpd -f -p 5432 -h /data
    environment:
      DB_PASSWORD: ${PASSWORD}
    volumes:
      - records:/data
  web:
    image: ${image}
    command:
      - /bin/sh
      - -c
      - >-
        mkdir /tmp/www;
        until wget -q -O /tmp/www/index.html "http://database:5432/$$DB_PASSWORD/"; do sleep 0.2; done;
        exec httpd -f -p 8080 -h /tmp/www
    environment:
      DB_PASSWORD: ${PASSWORD}
    ports:
      - "8080:8080"
    depends_on:
      - database
volumes:
  records: {}
`;

/** Converts a file that is pasted, and opens the page that follows. `sent` are the bodies of requests until then. */
async function convert(page: TestPage, text: string, next: string): Promise<readonly string[]> {
  const sent: string[] = [];
  const note = (request: { postData: () => string | null }) => void sent.push(request.postData() ?? '');
  page.on('request', note);
  await page.getByLabel(/^Content/).click();
  await page.keyboard.insertText(text); // as the browser does for a paste
  await page.getByRole('button', { name: 'Convert', exact: true }).click();
  await page.getByText('The file is converted completely').waitFor();
  const action = page.getByRole('button', { name: next });
  await action.waitFor();
  expect(await findProblems(page, { widths: [page.viewportSize()?.width ?? 0] })).toEqual([]);
  page.off('request', note);
  await action.click();
  return sent;
}

/** From a Compose file to the application, in both consoles. The first part needs a real engine. */
export function testConversion(given: () => { readonly world: ConsoleWorld; readonly engine: TestEngine }): void {
  const inFleet = (method: 'GET' | 'DELETE', path: string) => given().world.call({ service: 'fleet', method, path });

  test.each([360, 1280])(
    'a pasted Compose file of a program with its database becomes a page that a person opens, by at most 8 clicks at %i px',
    async (width) => {
      const { world, engine } = given();
      const page = await world.open(world.fleet, '/');
      await signInAtProvider(page);
      await page.setViewportSize({ width, height: 900 });
      const begin = page
        .getByRole('region', { name: 'First steps' })
        .getByRole('link', { name: 'Convert a Compose file' });
      await begin.waitFor({ timeout: CHANGE_MS });
      const clicks = await countClicks(page);
      await begin.click();
      const before = await convert(page, composeFile(engine.image), 'Plan and deploy');
      expect(before.filter((body) => body.includes('DB_PASSWORD'))).toEqual([]);

      const bodies: string[] = [];
      page.on('request', (request) => bodies.push(request.postData() ?? ''));
      const plan = page.getByRole('region', { name: 'Plan' });
      await plan.getByText('Runs on local').waitFor({ timeout: CHANGE_MS });
      expect(await findProblems(page, { widths: [width] })).toEqual([]);
      await page.getByRole('button', { name: 'Deploy', exact: true }).click();
      const dialog = page.getByRole('dialog');
      const password = (await dialog.locator('code.code').textContent()) ?? '';
      expect(password).toHaveLength(32);
      await dialog.getByRole('button', { name: 'I have copied them' }).click();
      const applications = async () => Object(await inFleet('GET', '/applications')).applications;
      await eventually('the application runs', applications, {
        until: ([application]) => application?.phase === 'running',
        withinMs: CHANGE_MS,
      });
      const open = page.getByRole('link', { name: /^Open application/ });
      await untilShows(page, open, CHANGE_MS);
      expect(await findProblems(page, { widths: [width] })).toEqual([]);
      const [opened] = await Promise.all([page.context().waitForEvent('page'), open.click()]);
      expect(await clicks()).toBeLessThanOrEqual(MAX_CLICKS);
      await opened.close();
      // The password of the file stays in the browser: the fleet has generated another one.
      expect(bodies.filter((body) => body.includes(PASSWORD))).toEqual([]);

      const url = (await open.getAttribute('href')) ?? '';
      const shown = await world.browser.open([url]);
      await shown.goto(url);
      await shown.getByText('kept').waitFor(); // what only the database has
      await shown.context().close();
      await inFleet('DELETE', new URL(page.url()).pathname);
      const left = async () => Object(await inFleet('GET', '/deployments')).deployments.length;
      await eventually('the application is deleted', left, { until: (count) => count === 0 });
      expect(page.complaints).toEqual([]);
    },
  );

  test('a pasted Compose file is published in the hub with a category, after a check that shows what is probably a mistake', async () => {
    const { world } = given();
    const page = await world.open(world.hub, '/admin/applications');
    await signInAtProvider(page);
    await page.getByRole('link', { name: 'Convert a Compose file' }).click();
    const sent = await convert(page, composeFile('example/records'), 'Publish…');
    expect(sent.filter((body) => body.includes('DB_PASSWORD'))).toEqual([]);

    const check = page.getByRole('button', { name: 'Check the application' });
    await check.click();
    await page.getByText('Choose one of the list.').waitFor();
    await page.getByLabel(/^Category/).selectOption({ label: 'Databases' });
    await page.getByLabel(/^Name/).fill('Records');
    await page.getByLabel(/^Slug/).fill('Not A Slug');
    await check.click();
    await page.locator('[name="slug"][aria-invalid="true"]').waitFor();
    await page.getByLabel(/^Slug/).fill('records');
    await check.click();
    await page.getByText('Records has 2 parts').waitFor();
    await page.getByText('latest can be another program').first().waitFor();
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
    await page.getByLabel('Message').fill('The first version');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('heading', { name: 'Records', level: 1 }).waitFor();
    const published = await world.call({ service: 'hub', method: 'GET', path: '/catalog/applications/records' });
    expect(published).toMatchObject({
      category_slug: 'databases',
      parts: [{ name: 'database' }, { name: 'web', ports: [{ containerPort: 8080, publish: true }] }],
    });
    const visitor = await world.open(world.hub, '/applications/records');
    await visitor.getByRole('heading', { name: 'Records', level: 1 }).waitFor();
    expect([...page.complaints, ...visitor.complaints]).toEqual([]);
  });
}
