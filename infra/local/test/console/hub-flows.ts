import { expect, test } from '@jest/globals';
import { people } from '../../src/environments.ts';
import { type ConsoleWorld, findProblems, signInByKeys } from '../console-world.ts';
import { keysOf } from './keys.ts';

/** Flows of the hub, and what they change in a fleet. The keyboard drives them alone. */
export function describeHubFlows(given: () => ConsoleWorld): void {
  test('an organization with a key receives access to a private category, and a changed template arrives in the fleet', async () => {
    const world = given();
    const { hub, fleet } = world;
    const page = await world.open(hub, '/organization');
    const keys = keysOf(page);
    await signInByKeys(page, people.user);
    await page.getByRole('heading', { name: 'Organization', level: 1 }).waitFor();
    await keys.fill(page.getByLabel('Name'), 'Second');
    await keys.fill(page.getByLabel('Slug'), 'second');
    await keys.press(page.getByRole('button', { name: 'Create', exact: true }));
    await page.getByRole('heading', { name: 'Second', level: 1 }).waitFor();

    await keys.press(page.getByRole('link', { name: 'API keys', exact: true }).first());
    await keys.press(page.getByRole('button', { name: 'New key' }).first());
    const dialog = page.getByRole('dialog');
    const isAccepted = async (key: string | undefined) => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${hub}/api/v1/catalog/organization`, { headers })).status === 200;
    };
    /** The key in the dialog, which then closes. */
    const readKey = async () => {
      const [, key] = /^HUB_API_KEY=(.*)$/m.exec((await dialog.getByText(/^HUB_URL=/).textContent()) ?? '') ?? [];
      expect(await findProblems(page, { widths: [1280] })).toEqual([]);
      await keys.press(dialog.getByRole('button', { name: 'I have copied it' }));
      expect(await page.content()).not.toContain(key);
      return key;
    };
    await keys.fill(dialog.getByLabel('Name'), 'my fleet');
    await keys.press(dialog.getByRole('button', { name: 'Create the key' }));
    const first = await readKey();
    expect(await isAccepted(first)).toBe(true);
    const menu = page.getByRole('button', { name: 'Actions for my fleet' });
    await keys.select(menu, 'Reissue…');
    await keys.press(dialog.getByRole('button', { name: 'Reissue' }));
    const second = await readKey();
    expect([await isAccepted(first), await isAccepted(second)]).toEqual([false, true]);
    await keys.select(menu, 'Revoke…');
    await keys.press(dialog.getByRole('button', { name: 'Revoke' }));
    await page
      .getByRole('row', { name: /my fleet/ })
      .getByText('Revoked')
      .waitFor();
    expect(await isAccepted(second)).toBe(false);

    const admin = await world.open(hub, '/admin/categories');
    const own = keysOf(admin);
    await signInByKeys(admin);
    await own.press(admin.getByRole('button', { name: 'New category' }).first());
    await own.fill(admin.getByRole('dialog').getByLabel(/^Name/), 'Internal');
    await own.toggle(admin.getByRole('dialog').getByLabel('Private', { exact: true }));
    await admin.keyboard.press('Enter');
    await admin.getByRole('rowheader', { name: /Internal/ }).waitFor();
    await own.press(admin.getByRole('link', { name: 'Access', exact: true }));
    await own.toggle(admin.getByRole('checkbox', { name: 'Second sees Internal' }));
    await admin.getByText('Grant Second access to Internal.').waitFor();
    expect(await findProblems(admin, { widths: [1280] })).toEqual([]);
    await own.press(admin.getByRole('button', { name: 'Apply 1 change' }));
    await admin.getByText('1 grant created, 0 revoked').waitFor();

    await own.press(admin.getByRole('link', { name: 'Templates', exact: true }));
    await own.fill(admin.getByRole('searchbox').first(), 'nginx');
    await own.press(admin.getByRole('link', { name: 'nginx', exact: true }));
    await own.fill(admin.getByLabel('Description', { exact: true }).first(), 'Changed in the browser.');
    await admin.getByRole('article').getByText('Changed in the browser.').waitFor();
    await own.press(admin.getByRole('button', { name: 'Publish the changes' }));
    await admin.getByText(/is published/).waitFor();

    const fleetPage = await world.open(fleet, '/sync');
    const inFleet = keysOf(fleetPage);
    await signInByKeys(fleetPage);
    await inFleet.press(fleetPage.getByRole('button', { name: 'Sync now' }));
    await fleetPage.getByText(/^Synced: /).waitFor();
    await inFleet.press(fleetPage.getByRole('link', { name: 'Catalog', exact: true }));
    await inFleet.press(fleetPage.getByRole('link', { name: 'nginx', exact: true }).first());
    await fleetPage.getByText('Changed in the browser.').waitFor();
    expect([...page.complaints, ...admin.complaints, ...fleetPage.complaints]).toEqual([]);
  }, 60_000);
}
