import { expect, test } from '@jest/globals';
import { byDepth, depth, eventually, scaled } from '@svc/testing';
import type { TestPage } from '@svc/testing/browser';
import type { TestEngine } from '@svc/testing/engine';
import { type ConsoleWorld, complaintsWithEngine, findProblems, signInAtProvider } from './console-world.ts';
import { createGreeter } from './objects.ts';

const CHANGE_MS = scaled(60_000);
const testFromFull = depth === 'short' ? () => undefined : test;
/** The width of a window, and where the first click is. */
type Way = readonly [width: number, place: string, link: string];
const WIDE: Way = [1280, 'its page', 'Review update'];
const NARROW: Way = [360, 'the list', 'Update updated-360'];

interface Shown {
  readonly id: string;
  readonly phase: string;
  readonly template_state: string;
  readonly rollout: { readonly state: string } | null;
}

/** A template that is published again. */
interface NewVersion {
  readonly version: string;
  readonly message: string;
  readonly image_tag?: string;
}

type Answer = Readonly<Record<string, unknown>>;

/** Changes the answers of the service to requests of a page. */
async function answerWith(page: TestPage, url: string, change: (answer: Answer) => Answer): Promise<void> {
  await page.route(url, async (route) => {
    // The browser adds this header only to requests that it sends itself.
    const response = await route.fetch({ headers: { ...route.request().headers(), 'sec-fetch-site': 'same-origin' } });
    await route.fulfill({ response, json: change(await response.json()) });
  });
}

/** Updates of deployments to a new version of their template. They need a real engine. */
export function testUpdates(given: () => { readonly world: ConsoleWorld; readonly engine: TestEngine }): void {
  /** A deployment that runs the present version of the greeter. */
  async function aGreeter(name: string, pull = 'never'): Promise<string> {
    const { world, engine } = given();
    await createGreeter(world, engine);
    const env = { GREETING: 'hello' };
    // A missing image then fails at once.
    const body = { name, template: 'greeter', env, updates: { ready_seconds: 1 }, pull };
    const reply = await world.call({ service: 'fleet', method: 'POST', path: '/deployments', body });
    const { id } = Object(reply).deployment;
    await untilShown(id, ({ phase, rollout }) => phase === 'running' && rollout?.state === 'succeeded');
    return id;
  }

  /** Publishes a version of the greeter in the hub, which the fleet receives with one sync. */
  async function publish({ version, message, image_tag = imageTag() }: NewVersion): Promise<void> {
    const { world } = given();
    const template = await world.call({ service: 'hub', method: 'GET', path: '/catalog/templates/greeter' });
    const env = [
      { name: 'SVC_HTTP_PORTS', value: '8080' },
      { name: 'EDITION', value: version },
    ];
    const body = { id: Object(template).id, version, env, image_tag, message };
    await world.call({ service: 'hub', method: 'PUT', path: '/admin/templates', body });
    await world.call({ service: 'fleet', method: 'POST', path: '/catalog/sync', body: {} });
  }

  const imageTag = () => given().engine.image.split(':').at(-1) ?? '';

  const untilShown = (id: string, until: (deployment: Shown) => boolean) =>
    eventually(
      'the deployment has changed',
      async () =>
        Object(await given().world.call({ service: 'fleet', method: 'GET', path: `/deployments/${id}` })).deployment,
      { until },
    );

  const isUpdated = ({ phase, template_state, rollout }: Shown) =>
    phase === 'running' && template_state === 'current' && rollout?.state === 'succeeded';

  const remove = (id: string) => given().world.call({ service: 'fleet', method: 'DELETE', path: `/deployments/${id}` });

  /** Opens a page as an administrator, in a window of a width. */
  async function openWide(width: number, path: string): Promise<TestPage> {
    const { world } = given();
    const page = await world.open(world.fleet, path);
    await page.setViewportSize({ width, height: 800 });
    await signInAtProvider(page);
    return page;
  }

  /** Waits until the navigation states the number of updates. */
  async function findInNavigation(page: TestPage, width: number): Promise<void> {
    const isNarrow = width < 800;
    if (isNarrow) await page.getByRole('button', { name: 'Open the navigation' }).click();
    await page.getByRole('link', { name: /^Updates\s*1 update available$/ }).waitFor({ timeout: CHANGE_MS });
    if (isNarrow) await page.keyboard.press('Escape');
  }

  test.each(byDepth({ short: [WIDE], full: [WIDE, NARROW], long: [WIDE, NARROW] }))(
    'at a width of %i pixels, two clicks from %s update a deployment to a new version',
    async (width, place, link) => {
      const name = `updated-${width}`;
      const version = `2.${width}.0`;
      const id = await aGreeter(name);
      await publish({ version, message: `The edition is ${version}.` });
      const page = await openWide(width, place === 'the list' ? '/deployments' : `/deployments/${id}`);
      await findInNavigation(page, width);
      await page.getByRole('link', { name: link, exact: true }).click();
      const plan = page.getByRole('region', { name: 'Plan' });
      await plan.getByRole('row', { name: new RegExp(`^EDITION .* ${version}$`) }).waitFor({ timeout: CHANGE_MS });
      await page.getByRole('heading', { name: `Update ${name} to ${version}`, level: 1 }).waitFor();
      await plan
        .getByRole('list', { name: 'What the publisher says' })
        .getByText(`The edition is ${version}.`)
        .waitFor();
      await plan
        .getByText(/No outage|Outage|Addresses do not answer/)
        .first()
        .waitFor();
      expect(await findProblems(page, { widths: [width] })).toEqual([]);
      await page.getByRole('button', { name: 'Update', exact: true }).click();
      await page.getByRole('heading', { name, level: 1, exact: true }).waitFor({ timeout: CHANGE_MS });
      expect(await findProblems(page, { widths: [width] })).toEqual([]);
      await untilShown(id, isUpdated);
      await page.getByText(`${version} is available`).waitFor({ state: 'detached' });
      expect(complaintsWithEngine(page)).toEqual([]);
      await remove(id);
    },
  );

  testFromFull(
    'another image of the tag is reviewed in words, and a registry that does not answer is stated',
    async () => {
      const id = await aGreeter('moved', 'auto');
      const page = await openWide(360, `/deployments/${id}`);
      await page.getByRole('button', { name: 'Check now' }).click();
      await page.getByText('The last check failed').waitFor({ timeout: CHANGE_MS });
      const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
      // As if the registry had named another image.
      await answerWith(page, `**/api/v1/deployments/${id}`, ({ deployment }) => {
        const { image } = Object(deployment);
        const update = { kinds: ['image'], to_version: null, to_digest: digest('b'), held: null };
        const known = { latest_digest: digest('b'), checked_at: new Date().toISOString(), check_error: null };
        return { deployment: { ...Object(deployment), update, image: { ...image, ...known } } };
      });
      await answerWith(page, '**/api/v1/deployments/plan', ({ image, ...plan }) => {
        const digests = { from_digest: digest('a'), to_digest: digest('b') };
        return { ...plan, template: null, image: { ...Object(image), ...digests } };
      });
      await page.reload();
      await page.getByText(/^Another image is available for the tag/).waitFor();
      await page.getByText(/another image \(.*sha256:bbbbbbbbbbbb.*\), checked/).waitFor();
      expect(await findProblems(page, { widths: [360] })).toEqual([]);
      await page.getByRole('link', { name: 'Review update', exact: true }).click();
      const plan = page.getByRole('region', { name: 'Plan' });
      await plan.getByText(/Image of the tag .*sha256:aaaaaaaaaaaa.* → .*sha256:bbbbbbbbbbbb/).waitFor();
      expect(await findProblems(page, { widths: [360] })).toEqual([]);
      expect(complaintsWithEngine(page)).toEqual([]);
      await remove(id);
    },
  );

  testFromFull('an update that is not as it was reviewed is shown again, and then applied', async () => {
    const id = await aGreeter('reviewed');
    await publish({ version: '3.0.0', message: '' });
    const page = await openWide(360, `/deployments/${id}/update`);
    const update = page.getByRole('button', { name: 'Update', exact: true });
    await page.getByRole('heading', { name: 'Update reviewed to 3.0.0', level: 1 }).waitFor({ timeout: CHANGE_MS });
    const body = { labels: { team: 'other' } };
    await given().world.call({ service: 'fleet', method: 'PUT', path: `/deployments/${id}`, body });
    await update.click();
    await page.getByText('The plan has changed').waitFor();
    expect(await findProblems(page, { widths: [360] })).toEqual([]);
    await untilShown(id, ({ template_state }) => template_state === 'outdated');
    await update.click();
    await page.getByRole('heading', { name: 'reviewed', level: 1, exact: true }).waitFor({ timeout: CHANGE_MS });
    await untilShown(id, isUpdated);
    expect(complaintsWithEngine(page).filter((one) => !one.includes('a status of 409'))).toEqual([]);
    await remove(id);
  });

  test('a broken version returns by itself and states why it is held, and one run updates all deployments to the repaired one', async () => {
    const { world, engine } = given();
    await createGreeter(world, engine);
    const ids = await Promise.all(['first', 'second'].map((name) => aGreeter(name)));
    const [first = ''] = ids;
    await publish({ version: '4.0.0', message: 'Broken.', image_tag: 'missing' });
    const page = await openWide(1280, `/deployments/${first}/update`);
    const update = page.getByRole('button', { name: 'Update', exact: true });
    await page.getByRole('heading', { name: 'Update first to 4.0.0', level: 1 }).waitFor({ timeout: CHANGE_MS });
    await update.click();
    await page.getByText('The fleet does not try it again by itself.').waitFor({ timeout: CHANGE_MS });
    await page.getByText(/^The same configuration failed .* with Image not found\.$/).waitFor({ timeout: CHANGE_MS });
    expect(await findProblems(page, { widths: [1280] })).toEqual([]);
    await page.getByRole('link', { name: 'Try again', exact: true }).click();
    await page.getByText('Update held').waitFor({ timeout: CHANGE_MS });
    await page.getByRole('button', { name: 'Try again', exact: true }).waitFor();

    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto(`${world.fleet}/updates/new?template=greeter`);
    const others = page.getByRole('list', { name: 'Will not be updated' });
    await others.getByText(/^Generation 2 with the same configuration failed/).waitFor({ timeout: CHANGE_MS });
    await page.getByRole('button', { name: 'Update 1', exact: true }).waitFor();
    expect(await findProblems(page, { widths: [360] })).toEqual([]);

    await publish({ version: '4.0.1', message: 'Repaired.' });
    await page.goto(`${world.fleet}/catalog/greeter`);
    await page.getByRole('link', { name: 'Update all 2', exact: true }).click();
    const updated = page.getByRole('list', { name: 'Will be updated' }).getByRole('listitem');
    await updated.nth(1).waitFor({ timeout: CHANGE_MS });
    await page.getByLabel('At the same time').fill('2');
    await page.getByText('2 deployments in 1 step.').waitFor({ timeout: CHANGE_MS });
    await updated.first().getByText('What changes').click();
    await updated
      .first()
      .getByRole('row', { name: /^EDITION .* 4\.0\.1$/ })
      .waitFor({ timeout: CHANGE_MS });
    expect(await findProblems(page, { widths: [360] })).toEqual([]);
    await page.getByRole('button', { name: 'Update 2', exact: true }).click();
    await page.getByRole('heading', { name: 'Update of 2 deployments', level: 1 }).waitFor({ timeout: CHANGE_MS });
    await page.locator('.page-header').getByText('Completed', { exact: true }).waitFor({ timeout: CHANGE_MS });
    await page.getByRole('list', { name: 'Updated' }).getByRole('link', { name: 'second' }).waitFor();
    expect(await findProblems(page, { widths: [360] })).toEqual([]);
    for (const id of ids) await untilShown(id, isUpdated);
    expect(complaintsWithEngine(page)).toEqual([]);
    await Promise.all(ids.map(remove));
  });
}
