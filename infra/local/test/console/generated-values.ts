import { expect, test } from '@jest/globals';
import { scaled } from '@svc/testing';
import type { TestEngine } from '@svc/testing/engine';
import { type ConsoleWorld, findProblems, signInAtProvider } from './console-world.ts';
import { createDoor } from './objects.ts';

const CHANGE_MS = scaled(60_000);

/** The password of an application, from the form to its page. It needs a real engine. */
export function testGeneratedValues(given: () => { readonly world: ConsoleWorld; readonly engine: TestEngine }): void {
  test('a generated password is shown after the deployment, opens the application, and is revealed again', async () => {
    const { world, engine } = given();
    await createDoor(world, engine);
    const page = await world.open(world.fleet, '/deploy/door');
    await signInAtProvider(page);
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('Runs on local').waitFor({ timeout: CHANGE_MS });
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();

    const dialog = page.getByRole('dialog');
    await dialog.getByText('Copy the generated values of door now').waitFor();
    const password = (await dialog.locator('code').textContent()) ?? '';
    expect(password).toHaveLength(32);
    expect(await findProblems(page, { widths: [360, 1280], part: 'dialog' })).toEqual([]);
    await dialog.getByRole('button', { name: 'I have copied them' }).click();
    await page.getByRole('heading', { name: 'door', level: 1 }).waitFor();
    expect(await page.content()).not.toContain(password);

    await page.locator('.page-header').getByText('Running', { exact: true }).waitFor({ timeout: CHANGE_MS });
    const path = new URL(page.url()).pathname;
    const { deployment } = (await world.call({ service: 'fleet', method: 'GET', path })) as {
      // The contract states this shape.
      deployment: { readonly endpoints: readonly { readonly address: string }[] };
    };
    const [endpoint] = deployment.endpoints;
    const statusOf = async (typed: string) => (await fetch(`http://${endpoint?.address}/${typed}/`)).status;
    expect(await statusOf(password)).toBe(200);
    expect(await statusOf('another')).toBe(404);

    await page.getByRole('button', { name: 'Reveal PASSWORD' }).click();
    await dialog.getByText('will state that you have read it').waitFor();
    await dialog.getByRole('button', { name: 'Reveal', exact: true }).click();
    await dialog.getByText('The value of PASSWORD').waitFor();
    expect(await dialog.locator('code').textContent()).toBe(password);
    expect(await findProblems(page, { widths: [360, 1280], part: 'dialog' })).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('the value of PASSWORD was revealed').waitFor();
    expect(await page.content()).not.toContain(password);
    await world.call({ service: 'fleet', method: 'DELETE', path });
    expect(page.complaints).toEqual([]);
  });
}
