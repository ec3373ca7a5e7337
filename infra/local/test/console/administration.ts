import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { TestPage } from '@svc/testing/browser';
import { people } from '../../src/environments.ts';
import { type ConsoleWorld, findProblems, signInAtProvider } from './console-world.ts';
import { settle, visit } from './visits.ts';

const CALLBACK = '/api/v1/auth/oidc/callback';
/**
 * Between two attempts to make a page read its objects again, in milliseconds. A page does not read
 * what is newer than 2 s.
 */
const READ_AGAIN_MS = 500;

const FAILED = JSON.stringify({
  type: 'about:blank',
  status: 403,
  code: 'forbidden',
  title: 'Forbidden',
  detail: 'The request failed.',
  request_id: 'r-403',
});

/** As if the user returned to the page from another tab. */
async function readAgain(page: TestPage): Promise<void> {
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  await delay(READ_AGAIN_MS);
}

/** Pages of administrators, and the page on which a sign-in ends that fails. */
export function testAdministration(given: () => ConsoleWorld): void {
  test('a sign-in that fails ends on the page for signing in, with a next step; the next attempt returns to the page', async () => {
    const world = given();
    const page = await world.open(world.fleet, '/hosts?search=a');
    // As if the user denied the access at the provider.
    await page.route('**/api/v1/auth/oidc/login?*', async (route) => {
      const response = await route.fetch({ maxRedirects: 0 });
      const { origin, searchParams: asked } = new URL(response.headers().location ?? '');
      const told = { error: 'access_denied', error_description: 'words of a stranger' };
      const back = new URLSearchParams({ ...told, state: asked.get('state') ?? '', iss: origin });
      const location = `${asked.get('redirect_uri')}?${back}`;
      await route.fulfill({ status: 302, headers: { ...response.headers(), location } });
    });
    await page.getByRole('button', { name: /^Continue with/ }).click();
    const alert = page.getByRole('alert');
    await alert.getByText('The identity provider did not confirm the sign-in').waitFor();
    await alert.getByText(/^Request id/).waitFor();
    expect(page.url()).toBe(`${world.fleet}/`);
    expect(await page.content()).not.toContain('stranger');
    expect(await findProblems(page, { widths: [360] })).toEqual([]);
    await page.unrouteAll();
    await signInAtProvider(page);
    await page.getByRole('heading', { name: 'Hosts', level: 1 }).waitFor();
    expect(page.url()).toBe(`${world.fleet}/hosts?search=a`);

    const visitor = await world.open(world.hub, `${CALLBACK}?error=access_denied&state=unknown`);
    await visitor.getByRole('alert').getByText('The sign-in has expired').waitFor();
    expect(visitor.url()).toBe(`${world.hub}/`);
    await settle(visitor);
    expect(await findProblems(visitor, { widths: [360] })).toEqual([]);
    await visitor.reload();
    await visitor.getByRole('heading', { level: 1 }).waitFor();
    expect(await visitor.getByRole('alert').count()).toBe(0);
    await visitor.goto(`${world.hub}/?sign_in_error=call+this+number&request_id=${'x'.repeat(50)}`);
    await visitor.getByRole('heading', { level: 1 }).waitFor();
    expect(await visitor.getByRole('alert').count()).toBe(0);
    expect([...page.complaints, ...visitor.complaints]).toEqual([]);
  });

  test('a cluster is edited: errors are at their fields, and the dialog shows why the check failed', async () => {
    const world = given();
    const { cluster } = (await world.call({
      service: 'fleet',
      method: 'POST',
      path: '/clusters',
      body: { name: 'edited', server: 'https://127.0.0.1:9', auth: { kind: 'token', token: 'not-a-token' } },
    })) as { cluster: { id: string } }; // the contract of the response
    const page = await world.open(world.fleet, `/clusters/${cluster.id}`);
    await signInAtProvider(page);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('API server').fill('https://127.0.0.1:7');
    await dialog.getByLabel('Labels', { exact: true }).fill('team=data');
    // Reading the page again fails meanwhile: the page states it, and keeps the input.
    const ofCluster = `**/api/v1/clusters/${cluster.id}`;
    await page.route(ofCluster, (route) =>
      route.fulfill({ status: 403, contentType: 'application/problem+json', body: FAILED }),
    );
    while ((await page.getByText('Request id r-403').count()) === 0) await readAgain(page);
    await page.unroute(ofCluster);
    expect(await dialog.getByLabel('Labels', { exact: true }).inputValue()).toBe('team=data');
    await dialog.getByRole('button', { name: 'Save and check' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    expect(await dialog.getByLabel('Credentials').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Credentials').selectOption('Token of a service account');
    await dialog.locator('input[type="password"]').fill('another-token');
    await dialog.getByRole('button', { name: 'Save and check' }).click();
    await dialog.getByText('The change is saved, but the check failed').waitFor();
    expect(await findProblems(page, { widths: [360] })).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('https://127.0.0.1:7').waitFor();
    await page.getByText('team=data').waitFor();
    await page.getByRole('region', { name: 'Checks' }).waitFor();
    await world.call({ service: 'fleet', method: 'DELETE', path: `/clusters/${cluster.id}?abandon=true` });
    expect(page.complaints).toEqual([]);
  });

  test('the audit logs show sign-ins, and the fleet exports what the filters select', async () => {
    const world = given();
    const page = await world.open(world.fleet, '/audit');
    await signInAtProvider(page);
    // Changes are sentences with the request on demand. The stream of the console is not recorded.
    const change = page
      .getByRole('listitem')
      .filter({ hasText: `${people.admin} signed in` })
      .first();
    await change.locator('summary').click();
    await change.getByText(CALLBACK).waitFor();
    await page.getByRole('button', { name: 'All requests' }).click();
    await page.getByRole('searchbox', { name: 'Path begins with' }).fill('/api/v1/changes');
    await page.getByText('No entry matches').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByLabel('Kind').selectOption('Sign-ins and sign-outs');
    const rows = page.getByRole('row', { name: /\/api\/v1\// });
    await rows.first().getByText(CALLBACK).waitFor();
    expect(await rows.filter({ hasNotText: '/api/v1/auth/' }).count()).toBe(0);
    const started = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export' }).click();
    const lines = (await readFile(await (await started).path(), 'utf8')).trim().split('\n');
    const paths = lines.map((line): string => JSON.parse(line).path);
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !path.startsWith('/api/v1/auth/'))).toEqual([]);
    await page.getByRole('searchbox', { name: 'Request id' }).fill('of-no-request');
    await page.getByText('No entry matches').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await rows.first().waitFor();

    const admin = await world.open(world.hub, '/admin/audit');
    await signInAtProvider(admin);
    await admin.getByLabel('Kind').selectOption('Sign-ins and sign-outs');
    await admin
      .getByRole('row', { name: new RegExp(`${CALLBACK} 302 127\\.0\\.0\\.1`) })
      .first()
      .waitFor();
    expect([...page.complaints, ...admin.complaints]).toEqual([]);
  });

  test('the settings are tested with the input; pages whose request fails show the problem, and repeat it', async () => {
    const world = given();
    const page = await world.open(world.fleet, '/settings');
    await signInAtProvider(page);
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    const result = page.getByRole('region', { name: 'Test' });
    await result.getByText(/^The provider is/).waitFor();
    await page.getByLabel('Issuer').fill('https://127.0.0.1:9');
    await result.getByText('Nothing is stored.').waitFor();
    await visit(page, '/settings?tab=hub');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await result.getByText('The hub accepts the API key').waitFor();
    await page.getByLabel('URL').fill('https://127.0.0.1:9');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByRole('button', { name: 'Save' }).waitFor();
    expect(await result.getByText('The hub accepts the API key').count()).toBe(0);

    // Another administrator changes a setting meanwhile: its field follows, and the input stays.
    const hub = { service: 'fleet', path: '/settings/hub' } as const;
    await world.call({ ...hub, method: 'PUT', body: { sync_interval: 777 } });
    const seconds = page.getByLabel('Seconds between two syncs');
    while ((await seconds.inputValue()) !== '777') await readAgain(page);
    expect(await page.getByLabel('URL').inputValue()).toBe('https://127.0.0.1:9');
    await page.getByLabel('URL').fill(world.hub);
    await seconds.fill('778');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The settings of the hub are saved').waitFor();
    expect(await seconds.inputValue()).toBe('778');
    await world.call({ ...hub, method: 'DELETE' });

    const problem = { status: 404, code: 'not_found', title: 'Not found', detail: 'Gone.', request_id: 'r-1' };
    const body = JSON.stringify({ type: 'about:blank', ...problem });
    for (const [path, request, shown] of [
      ['/sync', '**/api/v1/catalog/sync', 'Sync now'],
      ['/account', '**/api/v1/auth/sessions', 'this one'],
      ['/audit', '**/api/v1/audit?*', 'Export'],
    ] as const) {
      await page.route(request, (route) =>
        route.fulfill({ status: 404, contentType: 'application/problem+json', body }),
      );
      await page.goto(world.fleet + path);
      await page.getByText('Request id r-1').first().waitFor();
      await page.unroute(request);
      await page.getByRole('button', { name: 'Try again' }).first().click();
      await page.getByText(shown).first().waitFor();
      await page.getByText('Request id r-1').first().waitFor({ state: 'detached' });
    }
    expect(page.complaints).toEqual([]);
  });
}
