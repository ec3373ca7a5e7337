import { expect, test } from '@jest/globals';
import { scaled } from '@svc/testing';
import type { TestPage } from '@svc/testing/browser';
import { startEngine, type TestEngine } from '@svc/testing/engine';
import {
  type ConsoleWorld,
  complaintsWithEngine,
  findProblems,
  signInAtProvider,
  signInByKeys,
  untilHostIsFound,
} from './console-world.ts';
import { keysOf } from './keys.ts';
import { createGreeter, LOGGED } from './objects.ts';
import { settle } from './visits.ts';

const CHANGE_MS = scaled(60_000);

/** Flows that need a real engine. The keyboard drives them alone. */
export function testFleetFlows(given: () => { readonly world: ConsoleWorld; readonly engine: TestEngine }): void {
  test('from the first steps to an address that responds, and from a failure to its fix', async () => {
    const { world, engine } = given();
    await createGreeter(world, engine);
    const page = await world.open(world.fleet, '/');
    const keys = keysOf(page);
    await signInByKeys(page);
    await keys.press(
      page.getByRole('region', { name: 'First steps' }).getByRole('link', { name: 'Deploy a template' }),
    );
    await page.getByRole('heading', { name: 'Catalog', level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('greeter');
    await page.getByText('1 template', { exact: true }).waitFor();
    await keys.press(page.getByRole('link', { name: 'Deploy Greeter' }));

    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('is required and has no value').waitFor();
    await keys.fill(page.getByLabel('Value of GREETING'), 'goodbye');
    await plan.getByText('Runs on local').waitFor({ timeout: CHANGE_MS });
    expect(await findProblems(page, { widths: [1280] })).toEqual([]);
    await keys.press(page.getByRole('button', { name: 'Deploy', exact: true }));

    // The wrong value: the page states the reason, and leads to the log and to the form with the
    // fix.
    await page.locator('.problem').waitFor({ timeout: CHANGE_MS });
    const crashLoop = page.getByRole('region', { name: 'Crash loop' });
    await crashLoop.getByText('GREETING must be hello').first().waitFor({ timeout: CHANGE_MS });
    await crashLoop.getByText('Generation 1: Create').waitFor();
    expect(await findProblems(page, { widths: [1280] })).toEqual([]);
    await keys.press(page.getByRole('link', { name: 'Log', exact: true }));
    await page.getByRole('log').getByText('GREETING must be hello').first().waitFor();
    await keys.press(page.getByRole('button', { name: 'Change', exact: true }));
    await keys.fill(page.getByLabel('Value of GREETING'), 'hello');
    await plan.getByText(/would change/).waitFor();
    expect(await findProblems(page, { widths: [1280] })).toEqual([]);
    await keys.press(page.getByRole('button', { name: 'Apply the change' }));
    await page.locator('.page-header').getByText('Running', { exact: true }).waitFor({ timeout: CHANGE_MS });
    await page
      .getByRole('region', { name: 'Instances' })
      .getByText(/[KM]iB/)
      .first()
      .waitFor();
    const address = await page.getByRole('link', { name: /:\d+/ }).first().getAttribute('href');
    expect((await fetch(`${address}/busybox`)).status).toBe(200);
    expect(await findProblems(page, { widths: [1280] })).toEqual([]);

    await followLog(page);
    await keys.press(page.getByRole('button', { name: 'Scale', exact: true }));
    const dialog = page.getByRole('dialog');
    await keys.fill(dialog.getByLabel('Replicas'), '2');
    await keys.press(dialog.getByRole('button', { name: 'Scale', exact: true }));
    await dialog.waitFor({ state: 'detached' });
    await keys.press(page.getByRole('link', { name: 'Overview', exact: true }).last());
    const instances = page.getByRole('region', { name: 'Instances' }).getByRole('row', { name: /Running/ });
    await instances.nth(1).waitFor({ timeout: CHANGE_MS });

    for (const tab of ['Events', 'History', 'Manifest']) {
      await keys.press(page.getByRole('link', { name: tab, exact: true }));
      await settle(page);
      expect(await findProblems(page, { widths: [1280] })).toEqual([]);
    }
    await keys.press(page.getByRole('button', { name: 'Delete', exact: true }));
    await dialog.getByText('Its containers, generated values and history are deleted.').waitFor();
    await dialog.getByText('The workload greeter is deleted.').waitFor();
    await keys.toggle(dialog.getByLabel('Keep the workload'));
    await dialog.getByText('The workload greeter remains.').waitFor();
    await keys.toggle(dialog.getByLabel('Keep the workload'));
    await keys.fill(dialog.getByLabel('Type greeter to confirm'), 'greeter');
    await keys.press(dialog.getByRole('button', { name: 'Delete greeter' }));
    await page.getByText('Nothing is deployed yet').waitFor({ timeout: CHANGE_MS });
    expect((await engine.byHand('ps', '--all', '--quiet')).trim()).toBe('');
    expect(complaintsWithEngine(page)).toEqual([]);
  });

  test('a pasted docker run command becomes a service, and its workload gets a revision', async () => {
    const { world, engine } = given();
    const page = await world.open(world.fleet, '/deployments/new');
    const keys = keysOf(page);
    await signInByKeys(page);
    await keys.press(page.getByRole('button', { name: 'Paste a docker run command' }));
    const script = 'test "$GREETING" = "it is me" && httpd -f -p 8080 -h /bin';
    const options = `-d --name pasted -e GREETING="it is me" -e PASSWORD=x -p 80:8080 -v /srv:/data --user 0 --cap-add CHOWN`;
    const command = `docker run ${options} ${engine.image} sh -c '${script}'`;
    const dialog = page.getByRole('dialog');
    await keys.fill(dialog.getByLabel('Command'), command);
    await keys.press(dialog.getByRole('button', { name: 'Fill the form' }));
    await dialog.waitFor({ state: 'detached' });
    for (const part of ['-p 80:8080', '-v /srv:/data', '--cap-add CHOWN'])
      await page.getByText(part, { exact: true }).waitFor();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('Runs on local').waitFor({ timeout: CHANGE_MS });
    await keys.press(page.getByRole('group', { name: 'Source of PASSWORD' }).getByRole('button', { name: 'Generate' }));
    await plan.getByText('Runs on local').waitFor({ timeout: CHANGE_MS });
    await page.locator('.dim').waitFor({ state: 'detached' }); // the plan is that of the form
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
    await keys.press(page.getByRole('button', { name: 'Deploy', exact: true }));
    await closeGeneratedValues(page);
    await page.locator('.page-header').getByText('Running', { exact: true }).waitFor({ timeout: CHANGE_MS });
    const { pathname } = new URL(page.url());
    const { deployment } = Object(await world.call({ service: 'fleet', method: 'GET', path: pathname }));
    expect(deployment).toMatchObject({ name: 'pasted', env: { PASSWORD: { generate: 32 } } });

    await page.evaluate(`history.pushState(null, '', '/workloads/${deployment.workload_id}')`);
    await keys.press(page.getByRole('button', { name: 'New revision' }));
    await keys.fill(page.getByLabel('Memory', { exact: true }), '64Mi');
    expect(await findProblems(page, { widths: [1280] })).toEqual([]);
    await keys.press(page.getByRole('button', { name: 'Create the revision' }));
    await page.getByText('revision 2', { exact: true }).waitFor();
    const path = `/workloads/${deployment.workload_id}`;
    const { workload } = Object(await world.call({ service: 'fleet', method: 'GET', path }));
    expect(workload).toMatchObject({ memory_request: '64Mi', volume_mounts: [{ name: 'data', mountPath: '/data' }] });
    await world.call({ service: 'fleet', method: 'DELETE', path: pathname });
    expect(complaintsWithEngine(page)).toEqual([]);
  });

  test('a host is added: a failed check states what was tried, correcting the address adds it, and errors are at their fields', async () => {
    const { world } = given();
    const engine = await startEngine();
    try {
      const page = await world.open(world.fleet, '/hosts');
      const keys = keysOf(page);
      await signInByKeys(page);
      await keys.press(page.getByRole('link', { name: 'Add a host' }));
      const name = page.getByLabel(/^Name/);
      await keys.fill(name, 'Not A Name');
      await keys.choose(page.getByLabel('Engine', { exact: true }), engine.kind);
      await keys.fill(page.getByLabel(/^Address of the engine/), 'unix:///nonexistent/engine.sock');
      await keys.press(page.getByRole('button', { name: 'Check the connection' }));
      await page.getByText('The check failed').waitFor();
      await page.getByText('Tried:').getByText('unix:///nonexistent/engine.sock').waitFor();
      expect(await findProblems(page, { widths: [1280] })).toEqual([]);
      const { hosts: before } = (await world.call({ service: 'fleet', method: 'GET', path: '/hosts' })) as {
        readonly hosts: readonly { readonly name: string }[]; // the contract states this shape
      };
      expect(before.map((host) => host.name)).not.toContain('spare');
      await keys.fill(page.getByLabel(/^Address of the engine/), engine.endpoint);
      await keys.press(page.getByRole('button', { name: 'Check again' }));
      const add = page.getByRole('button', { name: 'Add the host' });
      await untilHostIsFound(page);
      await keys.toggle(page.getByLabel('mesh', { exact: true }));
      expect(await findProblems(page, { widths: [1280] })).toEqual([]);
      await keys.press(add);
      await page.locator('[aria-invalid="true"]').waitFor();
      expect(await name.getAttribute('aria-invalid')).toBe('true');
      await keys.fill(name, 'spare');
      await keys.press(add);
      await page.getByRole('heading', { name: 'spare', level: 1 }).waitFor();
      await page.locator('.page-header').getByText('Online', { exact: true }).waitFor();

      const dialog = page.locator('dialog'); // and not a message, which has the same role
      const save = dialog.getByRole('button', { name: 'Save and check' });
      await keys.press(page.getByRole('button', { name: 'Edit', exact: true }));
      await keys.fill(dialog.getByLabel(/^Address of the engine/), 'unix:///nonexistent/either.sock');
      await keys.press(save);
      await dialog.getByText('The change is saved, but the check failed').waitFor();
      await keys.fill(dialog.getByLabel(/^Address of the engine/), engine.endpoint);
      await keys.press(save);
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('region', { name: 'Capacity' }).getByText(/free$/).first().waitFor();
      await keys.press(page.getByRole('button', { name: 'Remove', exact: true }));
      await keys.fill(dialog.getByLabel('Type spare to confirm'), 'spare');
      await keys.press(dialog.getByRole('button', { name: 'Remove', exact: true }));
      await page.getByRole('heading', { name: 'Hosts', level: 1 }).waitFor();
      expect(complaintsWithEngine(page)).toEqual([]);
    } finally {
      await engine.stop();
    }
  });
}

/** Opens the log, in which a new line appears, and in which the text of a line stays text. */
async function followLog(page: TestPage): Promise<void> {
  await keysOf(page).press(page.getByRole('link', { name: 'Log', exact: true }));
  const log = page.getByRole('log');
  const lines = log.getByText(`says hello ${LOGGED}`);
  await lines.first().waitFor();
  await lines.nth((await lines.count()) + 1).waitFor();
  expect(await log.locator('img, b').count()).toBe(0);
  expect(await findProblems(page, { widths: [1280] })).toEqual([]);
}

/** The most clicks from the catalog to an address, beside those for the variables. */
const MAX_CLICKS = 4;

/** The number of clicks of the mouse since it was called. The console can load the page again meanwhile. */
export async function countClicks(page: TestPage): Promise<() => Promise<number>> {
  let clicks = 0;
  await page.exposeFunction('countClick', () => {
    clicks += 1;
  });
  const listen = 'addEventListener("click", ({ detail }) => detail > 0 && countClick(), true)';
  await page.addInitScript(listen);
  await page.evaluate(listen);
  return async () => {
    await page.evaluate('0'); // the page has reported all clicks before it responds
    return clicks;
  };
}

/** The shortest way to a service that runs. It needs a real engine. */
export function testDeployment(given: () => { readonly world: ConsoleWorld; readonly engine: TestEngine }): void {
  test('a template becomes a service with an address by at most four clicks, with a secret that is created in place', async () => {
    const { world, engine } = given();
    await createGreeter(world, engine);
    const page = await world.open(world.fleet, '/catalog?q=greeter');
    await signInAtProvider(page);
    await page.getByText('1 template', { exact: true }).waitFor();
    const clicks = await countClicks(page);
    await page.getByRole('link', { name: 'Greeter', exact: true }).click();
    await page.getByRole('link', { name: 'Deploy', exact: true }).click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('is required and has no value').waitFor();
    await page.getByLabel(/^Name/).fill('by-clicks');
    const before = await clicks();

    await page.getByRole('group', { name: 'Source of GREETING' }).getByRole('button', { name: 'Secret' }).click();
    await page.getByRole('button', { name: 'New secret' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('textbox', { name: /^Name/ }).inputValue()).toBe('by-clicks-greeting');
    await dialog.getByLabel(/^Key/).first().fill('greeting');
    await dialog.getByLabel('Value of greeting').fill('hello');
    await dialog.getByRole('button', { name: 'Create the secret' }).click();
    await dialog.waitFor({ state: 'detached' });
    await plan.getByText('Runs on local').waitFor({ timeout: CHANGE_MS });
    await plan.getByText('Manifest for the engine').waitFor();
    const ofVariables = (await clicks()) - before;

    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page.locator('.page-header').getByText('Running', { exact: true }).waitFor({ timeout: CHANGE_MS });
    const address = await page.getByRole('link', { name: /:\d+/ }).first().getAttribute('href');
    expect((await clicks()) - ofVariables).toBeLessThanOrEqual(MAX_CLICKS);
    expect((await fetch(`${address}/busybox`)).status).toBe(200);
    const { pathname } = new URL(page.url());
    await world.call({ service: 'fleet', method: 'DELETE', path: pathname });
    expect(complaintsWithEngine(page)).toEqual([]);
  });
}

/** Closes the dialog with the generated values of a new deployment. */
async function closeGeneratedValues(page: TestPage): Promise<void> {
  await keysOf(page).press(page.getByRole('dialog').getByRole('button', { name: 'I have copied them' }));
}
