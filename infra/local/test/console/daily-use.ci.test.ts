import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { describeWithBrowser, type TestPage } from '@svc/testing/browser';
import { type ConsoleWorld, findProblems, signInAtProvider, startConsoleWorld } from './console-world.ts';
import { visit } from './visits.ts';

const MINUTE_MS = 60_000;
/** More than the time limit of a read, in milliseconds. */
const READ_LIMIT_MS = 21_000;

/** In the console, time can be advanced without waiting. */
async function openWithClock(world: ConsoleWorld, origin: string, ahead = 0): Promise<TestPage> {
  const page = await world.open(origin, '/favicon.ico');
  await page.clock.install({ time: Date.now() + ahead });
  await page.goto(origin);
  await signInAtProvider(page);
  return page;
}

describeWithBrowser('daily use of the consoles in a browser', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startConsoleWorld();
  });
  afterAll(() => world?.stop());

  test.each([
    ['fleet', '/hosts', '/storage'],
    ['hub', '/admin/templates', '/admin/organizations'],
  ] as const)(
    'while the %s is frozen, a bar states since when, a page ends with a button to try again, and both recover',
    async (service, at, next) => {
      const page = await openWithClock(world, world[service]);
      await visit(page, at);
      const bar = page.getByRole('alert').filter({ hasText: 'has not responded since' });
      const pid = world.product.pids[service] ?? 0;
      process.kill(pid, 'SIGSTOP');
      try {
        // The page and its code need requests. The frame stays usable.
        await page.getByRole('navigation', { name: 'Main' }).locator(`a[href="${next}"]`).click();
        const shown = async () => {
          await page.clock.runFor(READ_LIMIT_MS / 4);
          return bar.count();
        };
        await eventually('the bar is shown', shown, { until: (count) => count > 0 });
        await bar.getByText(`connects to ${new URL(world[service]).host} again every 4 seconds`).waitFor();
        expect(await bar.getByRole('time').textContent()).toMatch(/\d\d:\d\d:\d\d/);
        await page.clock.runFor(READ_LIMIT_MS);
        await page.getByRole('button', { name: 'Try again' }).first().waitFor();
        expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await bar.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Try again' }).first().waitFor({ state: 'detached' });
      await page.getByRole('heading', { level: 1 }).waitFor();
      // React logs an error that a page shows.
      expect(page.complaints.filter((one) => !one.startsWith('Unreachable: The page could not be loaded'))).toEqual([]);
    },
  );

  test.each([-5, 5])('with a clock that is %i minutes off, what has just happened was just now', async (minutes) => {
    const page = await openWithClock(world, world.fleet, minutes * MINUTE_MS);
    await visit(page, '/storage');
    const name = `clock-${minutes + 10}`;
    await world.call({ service: 'fleet', method: 'POST', path: '/storage', body: { name, size: '1Gi' } });
    const row = page.getByRole('row', { name });
    await row.getByText('just now').waitFor();
    await page.clock.runFor(20_000);
    expect(await row.getByRole('time').textContent()).toMatch(/just now|seconds ago/);
    await visit(page, '/account');
    await page
      .getByText(/^in \d+ (?:hours|days|weeks|months)$/)
      .first()
      .waitFor(); // the session expires
    expect(page.complaints).toEqual([]);
  });

  test('selected deployments are deleted with one plan and one confirmation, and those of one label are found', async () => {
    const page = await world.open(world.fleet, '/deployments');
    await signInAtProvider(page);
    const workload = { name: 'bulk', image_name: 'team/app' };
    const made = await world.call({ service: 'fleet', method: 'POST', path: '/workloads', body: workload });
    const { id: workload_id } = Object(made).workload;
    for (const name of ['bulk-1', 'bulk-2', 'bulk-3']) {
      const body = {
        name,
        workload_id,
        desired_state: 'stopped',
        labels: { team: name === 'bulk-3' ? 'web' : 'data' },
      };
      await world.call({ service: 'fleet', method: 'POST', path: '/deployments', body });
    }
    await page.locator('summary', { hasText: 'More filters' }).click();
    await page.getByRole('combobox', { name: 'Label, such as team=data' }).fill('team=data');
    await page.locator('summary', { hasText: 'More filters' }).click();
    await page.waitForURL(/[?&]label=team%3Ddata/);
    await page.getByText('2 deployments', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Select all' }).click();
    const bar = page.getByRole('region', { name: 'Selection' });
    await bar.getByText('2 selected').waitFor();
    await page.getByRole('checkbox', { name: 'Select bulk-1' }).uncheck();
    await bar.getByText('1 selected').waitFor();
    await page.getByRole('checkbox', { name: 'Select bulk-1' }).check();
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);

    const dialog = page.getByRole('dialog');
    await bar.getByRole('button', { name: 'Stop', exact: true }).click();
    await dialog.getByText('It is stopped already.').first().waitFor();
    await page.keyboard.press('Escape');
    await bar.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByText('Its containers, generated values and history are deleted.').nth(1).waitFor();
    expect(await findProblems(page, { widths: [360, 1280], part: 'dialog[open]' })).toEqual([]);
    await dialog.getByLabel('Type 2 to confirm').fill('2');
    await dialog.getByRole('button', { name: 'Delete 2 deployments' }).click();
    await dialog.getByRole('list', { name: 'Results' }).getByText('Deleting').nth(1).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('No deployment matches').waitFor();
    expect(await bar.count()).toBe(0);
    expect(page.complaints).toEqual([]);
  });

  test('what the browser could not read is read again while the service responds', async () => {
    const page = await world.open(world.fleet, '/');
    await signInAtProvider(page);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const lists = '**/api/v1/workloads?*';
    await page.route(lists, (route) => route.abort());
    await page.getByRole('link', { name: 'Workloads', exact: true }).first().click();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.unroute(lists);
    await page.getByText('bulk', { exact: true }).waitFor();
    expect(page.complaints.filter((one) => !one.includes('net::ERR_FAILED'))).toEqual([]);
  });

  test.each(['fleet', 'hub'] as const)('the %s loads again what the browser could not load', async (service) => {
    const page = await world.browser.open(world.origins);
    const failFirstOf = async (files: string) => {
      let failed = false;
      await page.route(files, (route) => {
        const isFirst = !failed;
        failed = true;
        return isFirst ? route.abort() : route.continue();
      });
    };
    await failFirstOf('**/assets/console-*.js');
    await failFirstOf('**/assets/Catalog-*.js');
    await page.goto(`${world[service]}${service === 'fleet' ? '/catalog' : '/'}`);
    if (service === 'fleet') await signInAtProvider(page);
    await page.getByRole('searchbox').first().waitFor();
    const isOfTest = (one: string) => one.includes('net::ERR_FAILED') || one.startsWith('Unreachable: The page could');
    expect(page.complaints.filter((one) => !isOfTest(one))).toEqual([]);
  });

  test('the palette performs actions, and a key shows all keys', async () => {
    const page = await world.open(world.fleet, '/');
    await signInAtProvider(page);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const choose = async (text: string, option: RegExp) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search pages, objects and actions' }).fill(text);
      await page.getByRole('option', { name: option }).first().waitFor();
      await page.keyboard.press('Enter');
    };
    await choose('switch to dark', /^Switch to the dark theme/);
    await page.locator('html[data-theme="dark"]').waitFor();
    await choose('start bulk-3', /^Start bulk-3/);
    const dialog = page.getByRole('dialog', { name: 'Start bulk-3' });
    await dialog.getByText('Not changed').waitFor(); // no host can run it
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await choose('log bulk-3', /^Log bulk-3/);
    await page.waitForURL(/\/deployments\/[^/]+\?tab=log$/);
    await page.getByRole('heading', { name: 'bulk-3', level: 1 }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('show this list').waitFor();
    expect(await findProblems(page, { widths: [360], part: 'dialog[open]' })).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(page.complaints).toEqual([]);
  });
});
