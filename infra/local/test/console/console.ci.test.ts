import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithBrowser } from '@svc/testing/browser';
import { type ConsoleWorld, findProblems, signInByKeys, startConsoleWorld } from './console-world.ts';
import { keysOf } from './keys.ts';

describeWithBrowser('the consoles in a browser', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startConsoleWorld();
  });
  afterAll(() => world?.stop());

  test('a user of the fleet signs in, creates a token, connects with it, and revokes it', async () => {
    const { fleet } = world;
    const page = await world.open(fleet, '/tokens', { permissions: ['clipboard-read', 'clipboard-write'] });
    const keys = keysOf(page);
    await signInByKeys(page);
    await page.getByRole('heading', { name: 'MCP tokens' }).waitFor();
    expect(page.url()).toBe(`${fleet}/tokens`);
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')).toBe(
      '[{},{},""]',
    );

    await keys.press(page.getByRole('button', { name: 'New token' }));
    const dialog = page.getByRole('dialog');
    await keys.fill(dialog.getByLabel('Name'), 'from a browser');
    await keys.choose(dialog.getByLabel('Role'), 'Admin');
    await keys.fill(dialog.getByLabel('Days until it expires'), '400');
    await keys.press(dialog.getByRole('button', { name: 'Create the token' }));
    await dialog.getByText('must be an integer from 1 to 365').waitFor();
    await keys.fill(dialog.getByLabel('Days until it expires'), '30');
    await keys.press(dialog.getByRole('button', { name: 'Create the token' }));
    await keys.press(dialog.getByRole('button', { name: 'Copy' }).first());
    const secret = String(await page.evaluate('navigator.clipboard.readText()'));
    const configuration = (await dialog.getByText(/^\{"mcpServers"/).textContent()) ?? '';
    await keys.press(dialog.getByRole('button', { name: 'I have copied it' }));
    await page.getByRole('rowheader', { name: /from a browser/ }).waitFor();
    expect(await page.content()).not.toContain(secret);
    const me = () => fetch(`${fleet}/api/v1/auth/me`, { headers: { authorization: `Bearer ${secret}` } });
    expect((await me()).status).toBe(200);
    const { url, headers } = JSON.parse(configuration).mcpServers.fleet;
    const listTools = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}',
    });
    expect(await listTools.text()).toContain('plan_deployment');
    expect(await findProblems(page, { widths: [1280] })).toEqual([]);

    await keys.select(page.getByRole('button', { name: 'Actions for from a browser' }), 'Revoke…');
    await keys.press(dialog.getByRole('button', { name: 'Revoke' }));
    await page
      .getByRole('row', { name: /from a browser/ })
      .getByText('Revoked')
      .waitFor();
    expect((await me()).status).toBe(401);
    expect(page.complaints).toEqual([]);
  });

  test('a visitor of the hub finds a template, signs in, and creates a key for a fleet', async () => {
    const { hub } = world;
    const page = await world.open(hub, '/');
    const keys = keysOf(page);
    await keys.fill(page.getByRole('searchbox', { name: 'Search templates' }), 'qdrant');
    await page.getByText('1 template', { exact: true }).waitFor();
    expect(page.url()).toBe(`${hub}/?q=qdrant`);
    await keys.press(page.getByRole('link', { name: 'Qdrant' }));
    await page.getByRole('heading', { name: 'Qdrant', level: 1 }).waitFor();
    await page.getByRole('heading', { name: 'Documentation' }).waitFor();
    expect(await findProblems(page, { widths: [1280] })).toEqual([]);

    await signInByKeys(page);
    await keys.press(page.getByRole('link', { name: 'Organization', exact: true }));
    await keys.fill(page.getByLabel('Name'), 'Acme');
    await keys.fill(page.getByLabel('Slug'), 'acme');
    await keys.press(page.getByRole('button', { name: 'Create', exact: true }));
    await page.getByRole('heading', { name: 'Acme', level: 1 }).waitFor();
    await keys.press(page.getByRole('link', { name: 'API keys', exact: true }).first());
    await keys.press(page.getByRole('button', { name: 'New key' }).first());
    const dialog = page.getByRole('dialog');
    await keys.fill(dialog.getByLabel('Name'), 'my fleet');
    await keys.press(dialog.getByRole('button', { name: 'Create the key' }));
    const environment = (await dialog.getByText(/^HUB_URL=/).textContent()) ?? '';
    const [, key] = /^HUB_API_KEY=(.*)$/m.exec(environment) ?? [];
    const answer = await fetch(`${hub}/api/v1/catalog/organization`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
    await keys.press(dialog.getByRole('button', { name: 'I have copied it' }));
    await page.getByRole('rowheader', { name: /my fleet/ }).waitFor();
    expect(page.complaints).toEqual([]);
  });
});
