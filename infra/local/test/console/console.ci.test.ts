import { hash } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  aGitServer,
  describeWithGit,
  eventually,
  signInByBrowser,
  startProcess,
  startWebhookReceiver,
  verifyMessage,
} from '@svc/testing';
import { describeWithBrowser } from '@svc/testing/browser';
import { people } from '../../src/environments.ts';
import { repository } from '../../src/settings.ts';
import {
  type ConsoleWorld,
  FETCH,
  findProblems,
  signInAtProvider,
  signInByKeys,
  startConsoleWorld,
} from './console-world.ts';
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
    const stored = 'JSON.stringify([Object.keys(localStorage), { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate(stored)).toBe('[["console-key"],{},""]');

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

  test.each([
    { service: 'fleet', path: '/settings?tab=webhooks', event: 'A host is unreachable' },
    { service: 'hub', path: '/admin/webhooks', event: 'A request for access is decided' },
  ] as const)('an administrator of the $service creates a webhook, which receives a test message', async (given) => {
    const receiver = await startWebhookReceiver();
    const page = await world.open(world[given.service], given.path);
    const keys = keysOf(page);
    await signInByKeys(page);
    await page.getByText('There is no webhook yet').waitFor();
    await keys.press(page.getByRole('button', { name: 'New webhook' }));
    const dialog = page.getByRole('dialog');
    await keys.fill(dialog.getByLabel('Name'), 'pager');
    await keys.fill(dialog.getByLabel('Address'), receiver.url);
    await keys.toggle(dialog.getByLabel(given.event));
    await keys.press(dialog.getByRole('button', { name: 'Create the webhook' }));
    const secret = (await dialog.getByText(/^whsec_/).textContent()) ?? '';
    await keys.press(dialog.getByRole('button', { name: 'I have copied it' }));
    await page.getByRole('rowheader', { name: /pager/ }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await keys.select(page.getByRole('button', { name: 'Actions for pager' }), 'Send a test message');
    const message = await eventually('the message has arrived', () => receiver.received[0]);
    verifyMessage(secret, message);
    await page.getByRole('row', { name: /pager/ }).getByText('Working').waitFor();
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
    expect(page.complaints).toEqual([]);
    await receiver.stop();
  });

  describeWithGit('sources', () => {
    test('an administrator of the fleet follows a repository, and reads why the plan of its commit is refused', async () => {
      const git = await aGitServer();
      const text = 'kind: deployment\nname: web\ntarget: { host: missing }\nspec: { image_name: team/web }\n';
      await git.commit({ files: { 'deploy/web.yaml': text }, message: 'Add the web server' });
      const page = await world.open(world.fleet, '/sources');
      const keys = keysOf(page);
      await signInByKeys(page);
      await page.getByText('There is no source yet').waitFor();
      await keys.press(page.getByRole('button', { name: 'New source' }).first());
      const dialog = page.getByRole('dialog');
      await keys.fill(dialog.getByLabel('Name'), 'shop');
      await keys.fill(dialog.getByLabel('Address of the repository'), git.url);
      await keys.fill(dialog.getByLabel('Folder'), 'deploy');
      await keys.press(dialog.getByRole('button', { name: 'Create the source' }));
      await dialog.getByText(/\/api\/v1\/sources\/\S+\/hook/).waitFor();
      await keys.press(dialog.getByRole('button', { name: 'I have copied it' }));
      const row = page.getByRole('row', { name: /shop/ });
      await row.getByText('Failing').waitFor();
      await row.getByText(/deploy\/web\.yaml:3/).waitFor();
      await row.getByText('Add the web server').waitFor();
      expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
      await keys.press(row.getByRole('link', { name: 'Refused' }));
      await page.getByText('The plan is refused').waitFor();
      await page.getByText('deploy/web.yaml').first().waitFor();
      expect(page.complaints).toEqual([]);
      await git.stop();
    });
  });

  test.each(['fleet', 'hub'] as const)('a person lets svc act in the %s, and ends its session', async (service) => {
    const origin = world[service];
    const home = fs.mkdtempSync(path.join(tmpdir(), 'svc-'));
    const svc = (...args: string[]) =>
      startProcess(path.join(repository, 'apps/cli/dist/svc.mjs'), args, { XDG_CONFIG_HOME: home });
    const login = svc('login', origin, '--no-browser');
    const address = await eventually(
      'svc prints the address',
      () => /^http\S+\/console\/connect\S+$/m.exec(login.output())?.[0],
    );
    const port = new URL(address).searchParams.get('port');
    const page = await world.browser.open([...world.origins, `http://127.0.0.1:${port}`]);
    const keys = keysOf(page);
    await page.goto(address);
    await signInByKeys(page);
    await page.getByRole('heading', { name: 'Connect svc', level: 1 }).waitFor();
    expect(await findProblems(page, { widths: [1280] })).toEqual([]);
    await keys.press(page.getByRole('button', { name: 'Allow' }));
    await page.getByText('svc is connected.').waitFor();
    expect({ code: await login.ended, output: login.output() }).toMatchObject({ code: 0 });
    expect(await svc('audit', 'tail').ended).toBe(0);

    await page.goto(`${origin}/account`);
    await keys.press(page.getByRole('row', { name: /Program with tokens/ }).getByRole('button', { name: 'End' }));
    await page.getByRole('row', { name: /Program with tokens/ }).waitFor({ state: 'detached' });
    const refused = svc('audit', 'tail');
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toContain('Sign in again');
    expect(page.complaints).toEqual([]);
    fs.rmSync(home, { recursive: true });
  });

  test('a link to the page that connects svc does nothing before the person agrees', async () => {
    const { fleet } = world;
    const page = await world.open(fleet, `/console/connect?port=9&state=${'s'.repeat(43)}&challenge=${'c'.repeat(43)}`);
    await signInByKeys(page);
    await page.getByRole('heading', { name: 'Connect svc', level: 1 }).waitFor();
    const read = "fetch('/api/v1/auth/sessions').then((answer) => answer.json()).then(({ sessions }) => sessions)";
    const sessions = (await page.evaluate(read)) as { kind: string }[]; // the contract of the response
    expect(sessions.filter(({ kind }) => kind === 'tokens')).toEqual([]);
    await page.goto(`${fleet}/console/connect?port=evil.example.test&state=x&challenge=y`);
    await page.getByText('This link is not complete').waitFor();
    expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0);
    expect(page.complaints).toEqual([]);
  });

  test.each(['fleet', 'hub'] as const)(
    'a page on another port of the host cannot make a browser complete its sign-in to the %s, or use its session',
    async (service) => {
      const origin = world[service];
      const victim = await world.open(origin, '/');
      if (service === 'hub') {
        await victim.getByRole('button', { name: 'Sign in', exact: true }).first().click();
        await victim.waitForURL((url) => url.origin !== origin); // the victim has a verifier of its own
      }
      const attacker = anAttacker(origin, service === 'fleet' ? '&session=cookie' : '');
      const begun = await attacker.begin();
      // A page on another port plants the cookie of this sign-in, and leads the victim to its end.
      const plant = async (cookie: string) => {
        await victim.goto(`${begun.provider}/.well-known/openid-configuration`);
        await victim.evaluate(`document.cookie = ${JSON.stringify(cookie.replace('; HttpOnly', ''))}`);
      };
      await plant(begun.cookie);
      await victim.goto(begun.back.href);
      await victim.getByRole('alert').getByText('The sign-in was not begun in this browser').waitFor();
      const read = `${FETCH}('/api/v1/auth/session').then((answer) => answer.json()).then(({ user }) => user)`;
      expect(await victim.evaluate(read)).toBeNull();
      // It plants the cookie of a session that the attacker has.
      await plant(await attacker.finish(await attacker.begin()));
      expect(await victim.evaluate('document.cookie')).toContain(`${service}-session-`);
      await victim.goto(origin);
      // The page offers to sign in.
      await signInAtProvider(victim, people.admin);
      await victim.waitForURL((url) => url.origin === origin);
      await victim.getByRole('button', { name: /^Account of/ }).waitFor();
      expect(await victim.evaluate(read)).toMatchObject({ email: people.admin });
      expect(victim.complaints).toEqual([]);
    },
  );
});

/** Signs in with an own account, with a program instead of the console. */
function anAttacker(origin: string, session: string) {
  const verifier = 'a'.repeat(43);
  const challenge = hash('sha256', verifier, 'base64url');
  const api = `${origin}/api/v1/auth`;
  const begin = async () => {
    const begun = await fetch(`${api}/oidc/login?challenge=${challenge}${session}`, { redirect: 'manual' });
    const [cookie = ''] = begun.headers.getSetCookie();
    const address = new URL(begun.headers.get('location') ?? '');
    const account = { email: people.user, password: people.password };
    return { cookie, provider: address.origin, back: await signInByBrowser(address, `${api}/oidc/callback`, account) };
  };
  return {
    begin,
    /** @returns the cookie of the session */
    finish: async ({ cookie, back }: Awaited<ReturnType<typeof begin>>): Promise<string> => {
      const headers = { cookie: cookie.split(';')[0] ?? '' };
      const { headers: ended } = await fetch(back, { headers, redirect: 'manual' });
      const code = new URLSearchParams(new URL(ended.get('location') ?? '').hash.slice(1)).get('sign_in_code');
      const finished = await fetch(`${api}/oidc/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', origin },
        body: JSON.stringify({ code, verifier }),
      });
      if (!finished.ok) throw new Error(`the sign-in of the attacker answered ${finished.status}`);
      return finished.headers.getSetCookie()[0] ?? '';
    },
  };
}
