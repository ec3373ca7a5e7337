import { expect, test } from '@jest/globals';
import type { TestPage } from '@svc/testing/browser';
import { type ConsoleWorld, signInAtProvider, signInByKeys } from './console-world.ts';
import { keysOf } from './keys.ts';

const PASSWORD = 'a long and unusual passphrase';
const EMAIL = 'viewer@example.test';

/** Sign-in and sign-out of both consoles. The keyboard drives them alone. */
export function testSignIn(given: () => ConsoleWorld): void {
  test('as the temporary admin, with a message on each page; then as a local user who accepts an invitation', async () => {
    const world = given();
    const page = await world.open(world.fleet, '/users');
    const keys = keysOf(page);
    await keys.press(page.getByRole('button', { name: 'Sign in as the temporary admin' }));
    await keys.fill(page.getByLabel('Username of the temporary admin'), world.product.demo.TEMP_ADMIN_USERNAME ?? '');
    await keys.fill(page.getByLabel('Password'), 'wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Sign-in failed').waitFor();
    await keys.fill(page.getByLabel('Password'), world.product.demo.TEMP_ADMIN_PASSWORD ?? '');
    await page.keyboard.press('Enter');
    await page.getByText(/You are the temporary admin/).waitFor();

    await keys.press(page.getByRole('button', { name: 'New user' }).first());
    const dialog = page.getByRole('dialog');
    await keys.fill(dialog.getByLabel('E-mail'), EMAIL);
    await keys.fill(dialog.getByLabel('Name'), 'Vera Viewer');
    await keys.press(dialog.getByRole('button', { name: 'Create and invite' }));
    await keys.press(dialog.getByRole('button', { name: 'Create the link' }));
    const link = (await dialog.getByText(/\/invitation#/).textContent()) ?? '';
    await keys.press(dialog.getByRole('button', { name: 'I have copied it' }));

    const invited = await world.open(link, '');
    const own = keysOf(invited);
    await own.fill(invited.getByLabel('Password'), PASSWORD);
    await own.press(invited.getByRole('button', { name: 'Set the password' }));
    await invited.getByText('Your password is set').waitFor();
    await invited.goto(`${world.fleet}/tokens`);
    await signInLocally(invited);

    await own.press(invited.getByRole('button', { name: /^Account of Vera Viewer/ }));
    for (const item of ['Account and sessions', 'Sign out'])
      await invited.getByRole('menuitem', { name: item }).waitFor();
    await invited.keyboard.press('ArrowUp'); // from the end
    await invited.keyboard.press('Enter');
    await invited.getByRole('heading', { name: 'Sign in to the fleet' }).waitFor();
    expect([...page.complaints, ...invited.complaints]).toEqual([]);
  });

  test('the sign-out of one browser leaves the others signed in; that of all ends all', async () => {
    const world = given();
    const open = async () => {
      const page = await world.open(world.fleet, '/account');
      await signInLocally(page);
      await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
      return page;
    };
    const one = await open();
    const other = await open();
    const last = await open();
    await keysOf(one).press(one.getByRole('button', { name: 'Sign out here' }));
    await one.getByRole('heading', { name: 'Sign in to the fleet' }).waitFor();
    await other.reload();
    await keysOf(other).press(other.getByRole('button', { name: 'Sign out everywhere' }));
    await other.getByRole('heading', { name: 'Sign in to the fleet' }).waitFor();
    await last.reload();
    await last.getByRole('heading', { name: 'Sign in to the fleet' }).waitFor();
    expect([one, other, last].flatMap(({ complaints }) => complaints)).toEqual([]);
  });

  test('sign-in to the hub at the provider, and sign-out', async () => {
    const world = given();
    const page = await world.open(world.hub, '/account');
    await signInByKeys(page);
    await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor();
    await keysOf(page).press(page.getByRole('button', { name: 'Sign out everywhere' }));
    await page.getByRole('button', { name: 'Sign in', exact: true }).first().waitFor();
    expect(page.complaints).toEqual([]);
  });

  test('after a session of the fleet ended while a form was open, which loses no input', async () => {
    const world = given();
    const page = await world.open(world.fleet, '/tokens');
    const keys = keysOf(page);
    await signInAtProvider(page);
    await keys.press(page.getByRole('button', { name: 'New token' }).first());
    await keys.fill(page.getByRole('dialog').getByRole('textbox', { name: /^Name/ }), 'kept');
    await page.context().clearCookies({ name: /fleet/ });
    await page.keyboard.press('Enter');
    const expired = page.getByRole('dialog', { name: 'Your session has ended' });
    await expired.waitFor();
    const opened = page.context().waitForEvent('page');
    await keys.press(expired.getByRole('button', { name: /^Continue with/ }));
    await opened; // the identity provider still knows the user
    await page.getByRole('dialog', { name: 'Copy the token kept now' }).waitFor();
    expect(page.complaints).toEqual([]);
  });

  test('after a session of the hub ended while a form was open, which loses no input', async () => {
    const world = given();
    const page = await world.open(world.hub, '/admin/categories');
    const keys = keysOf(page);
    await signInAtProvider(page);
    await keys.press(page.getByRole('button', { name: 'New category' }).first());
    await keys.fill(page.getByRole('dialog').getByLabel('Name', { exact: false }).first(), 'Kept');
    await page.context().clearCookies({ name: /hub/ });
    await page.keyboard.press('Enter');
    const expired = page.getByRole('dialog', { name: 'Sign in to continue' });
    await expired.waitFor();
    const opened = page.context().waitForEvent('page');
    await keys.press(expired.getByRole('button', { name: 'Sign in' }));
    await opened; // the identity provider still knows the user
    await page.getByRole('rowheader', { name: /Kept/ }).waitFor();
    expect(page.complaints).toEqual([]);
  });
}

async function signInLocally(page: TestPage): Promise<void> {
  const keys = keysOf(page);
  await keys.fill(page.getByLabel('E-mail'), EMAIL);
  await keys.fill(page.getByLabel('Password'), PASSWORD);
  await page.keyboard.press('Enter');
}
