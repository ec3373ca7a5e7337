// The journeys of a person who has never seen the product, from an empty fleet to an application
// that they use. They call no API: a journey ends when the page of the application is open.
import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually, scaled } from '@svc/testing';
import { describeWithBrowser, type TestPage } from '@svc/testing/browser';
import { describeWithEngine, startEngine, type TestEngine } from '@svc/testing/engine';
import { people } from '../../src/environments.ts';
import { type ConsoleWorld, startConsoleWorld, untilHostIsFound } from './console-world.ts';
import { createDoor } from './objects.ts';

const MAX_CLICKS = 12;
const CHANGE_MS = scaled(60_000);
const NAMESPACE = 'svc-newcomer';
/** The address of this machine in a network that it shares with another one, which is a network namespace. */
const ADDRESS = '10.213.77.1';

const ip = (...args: readonly string[]) => execFileSync('ip', args, { stdio: 'pipe', encoding: 'utf8' });

function createNetwork(): void {
  removeNetwork(); // of a run that was killed
  ip('netns', 'add', NAMESPACE);
  ip('link', 'add', 'svc-here', 'type', 'veth', 'peer', 'name', 'svc-there', 'netns', NAMESPACE);
  ip('address', 'add', `${ADDRESS}/24`, 'dev', 'svc-here');
  ip('link', 'set', 'svc-here', 'up');
  ip('-n', NAMESPACE, 'address', 'add', '10.213.77.2/24', 'dev', 'svc-there');
  ip('-n', NAMESPACE, 'link', 'set', 'svc-there', 'up');
}

function removeNetwork(): void {
  try {
    ip('netns', 'delete', NAMESPACE);
  } catch {
    // It does not exist.
  }
}

/** Requests a page from the other machine. @returns the status of the response */
function statusElsewhere(url: string): number {
  const script = `fetch(${JSON.stringify(url)}).then((response) => console.log(response.status))`;
  return Number(ip('netns', 'exec', NAMESPACE, process.execPath, '-e', script));
}

/** A newcomer, whose clicks are counted. What they type is not. */
class Newcomer {
  clicks = 0;
  readonly page: TestPage;

  constructor(page: TestPage) {
    this.page = page;
  }

  async click(control: ReturnType<TestPage['locator']>): Promise<void> {
    await control.click();
    this.clicks += 1;
  }

  async signIn(): Promise<void> {
    const { page } = this;
    const { origin } = new URL(page.url());
    await this.click(page.getByRole('button', { name: /^Continue with/ }));
    await page.waitForURL((url) => url.origin !== origin);
    await page.getByLabel('E-mail').fill(people.admin);
    await page.getByLabel('Password').fill(people.password);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.origin === origin);
  }

  /** Opens the form for a host, and describes the engine. */
  async describeHost(endpoint: string): Promise<void> {
    const { page } = this;
    await this.click(page.getByRole('link', { name: 'Add a host or a cluster' }));
    await page.getByLabel(/^Name/).fill('box');
    await page.getByLabel('Engine', { exact: true }).selectOption('podman');
    this.clicks += 1;
    await page.getByLabel(/^Address of the engine/).fill(endpoint);
    await this.click(page.getByRole('button', { name: 'Check the connection' }));
  }

  /** Selects the network that most templates require, with the address of the machine in it. */
  async joinMesh(): Promise<void> {
    const { page } = this;
    const scope = page.locator('dialog').or(page.getByRole('main')).last();
    await this.click(scope.getByLabel('mesh', { exact: true }));
    await scope.getByLabel('Address for mesh').fill(ADDRESS);
  }

  async addHost(): Promise<void> {
    await this.click(this.page.getByRole('button', { name: 'Add the host' }));
    await this.page.getByRole('heading', { name: 'box', level: 1 }).waitFor({ timeout: CHANGE_MS });
  }

  async openForm(): Promise<void> {
    const { page } = this;
    await this.click(page.getByRole('link', { name: 'Catalog', exact: true }));
    await page.getByRole('heading', { name: 'Catalog', level: 1 }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('door');
    await this.click(page.getByRole('link', { name: 'Deploy Door' }));
  }

  /** Deploys what the form describes. @returns the generated password and the address of the page */
  async deploy(): Promise<{ readonly password: string; readonly url: string }> {
    const { page } = this;
    await page.getByRole('region', { name: 'Plan' }).getByText('Runs on box').waitFor({ timeout: CHANGE_MS });
    await this.click(page.getByRole('button', { name: 'Deploy', exact: true }));
    const dialog = page.getByRole('dialog');
    const password = (await dialog.locator('code.code').textContent()) ?? '';
    await this.click(dialog.getByRole('button', { name: 'I have copied them' }));
    const open = page.getByRole('link', { name: /^Open door/ });
    await open.waitFor({ timeout: CHANGE_MS });
    const [opened] = await Promise.all([page.context().waitForEvent('page'), this.click(open)]);
    const url = (await open.getAttribute('href')) ?? '';
    await opened.close();
    return { password, url };
  }
}

describeWithBrowser('a newcomer with a browser', () => {
  describeWithEngine('and a machine with an engine', () => {
    let world: ConsoleWorld;
    let engine: TestEngine;
    beforeAll(async () => {
      createNetwork();
      engine = await startEngine();
      world = await startConsoleWorld();
      await createDoor(world, engine);
    });
    afterAll(async () => {
      await world?.stop();
      await engine?.stop();
      removeNetwork();
    });
    afterEach(() => emptyFleet(world));

    const begin = async () => {
      const newcomer = new Newcomer(await world.open(world.fleet, '/'));
      await newcomer.signIn();
      return newcomer;
    };

    /** Expects that the page opens with the password, here and on another machine, and not without it. */
    const expectUsable = async ({ password, url }: { readonly password: string; readonly url: string }) => {
      expect(url).toMatch(new RegExp(`^http://${ADDRESS.replaceAll('.', '\\.')}:\\d+$`));
      expect(statusElsewhere(`${url}/${password}/`)).toBe(200);
      expect(statusElsewhere(`${url}/wrong/`)).toBe(404);
      const page = await world.browser.open([url]);
      await page.goto(`${url}/${password}/`);
      await page.getByText('open').waitFor();
    };

    test('adds a host, deploys an application with a password, and opens it, with at most 12 clicks', async () => {
      const newcomer = await begin();
      await newcomer.describeHost(engine.endpoint);
      await untilHostIsFound(newcomer.page);
      await newcomer.joinMesh();
      await newcomer.addHost();
      await newcomer.openForm();
      await expectUsable(await newcomer.deploy());
      expect(newcomer.clicks).toBeLessThanOrEqual(MAX_CLICKS);
    });

    test('corrects a wrong socket, and adds a network that the plan asks for', async () => {
      const newcomer = await begin();
      const { page } = newcomer;
      await newcomer.describeHost('unix:///nonexistent/engine.sock');
      await page.getByText(/^Tried: Podman at/).waitFor();
      await page.getByLabel(/^Address of the engine/).fill(engine.endpoint);
      await newcomer.click(page.getByRole('button', { name: 'Check again' }));
      await untilHostIsFound(page);
      await newcomer.addHost();
      await newcomer.openForm();
      await newcomer.click(page.getByRole('link', { name: 'Add mesh to box' }));
      await newcomer.joinMesh();
      const dialog = page.locator('dialog'); // and not a message, which has the same role
      await newcomer.click(dialog.getByRole('button', { name: 'Save and check' }));
      await dialog.waitFor({ state: 'detached' });
      await newcomer.openForm();
      await expectUsable(await newcomer.deploy());
    });
  }, ['ip']);
});

/** Removes what a journey has created. */
async function emptyFleet(world: ConsoleWorld): Promise<void> {
  type Listed = { readonly id: string };
  const list = async (kind: 'deployments' | 'hosts') => {
    const reply = await world.call({ service: 'fleet', method: 'GET', path: `/${kind}` });
    return (reply as Record<typeof kind, readonly Listed[]>)[kind]; // the contract of the response
  };
  for (const kind of ['deployments', 'hosts'] as const) {
    for (const { id } of await list(kind))
      await world.call({ service: 'fleet', method: 'DELETE', path: `/${kind}/${id}` });
    await eventually(`no ${kind} are left`, () => list(kind), { until: (left) => left.length === 0 });
  }
}
