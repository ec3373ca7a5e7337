import { expect, test } from '@jest/globals';
import { eventually, scaled } from '@svc/testing';
import type { TestPage } from '@svc/testing/browser';
import type { TestEngine } from '@svc/testing/engine';
import { type ConsoleWorld, findProblems, signInAtProvider } from './console-world.ts';
import { createGreeter } from './objects.ts';

const CHANGE_MS = scaled(60_000);

interface Shown {
  readonly id: string;
  readonly phase: string;
  readonly template_state: string;
  readonly rollout: { readonly state: string } | null;
}

/** Updates of deployments to a new version of their template. They need a real engine. */
export function testUpdates(given: () => { readonly world: ConsoleWorld; readonly engine: TestEngine }): void {
  /** A deployment that runs, of whose template the fleet then learns a new version. */
  async function anOutdatedGreeter(name: string, version: string): Promise<string> {
    const { world, engine } = given();
    await createGreeter(world, engine);
    const body = { name, template: 'greeter', env: { GREETING: 'hello' }, updates: { ready_seconds: 0 } };
    const reply = await world.call({ service: 'fleet', method: 'POST', path: '/deployments', body });
    const { id } = Object(reply).deployment;
    await untilShown(id, ({ phase, rollout }) => phase === 'running' && rollout?.state === 'succeeded');
    const template = await world.call({ service: 'hub', method: 'GET', path: '/catalog/templates/greeter' });
    const env = [
      { name: 'SVC_HTTP_PORTS', value: '8080' },
      { name: 'EDITION', value: version },
    ];
    const next = { id: Object(template).id, version, env };
    await world.call({ service: 'hub', method: 'PUT', path: '/admin/templates', body: next });
    await world.call({ service: 'fleet', method: 'POST', path: '/catalog/sync', body: {} });
    return id;
  }

  const untilShown = (id: string, until: (deployment: Shown) => boolean) =>
    eventually(
      'the deployment has changed',
      async () =>
        Object(await given().world.call({ service: 'fleet', method: 'GET', path: `/deployments/${id}` })).deployment,
      { until },
    );

  const isUpdated = ({ phase, template_state, rollout }: Shown) =>
    phase === 'running' && template_state === 'current' && rollout?.state === 'succeeded';

  /** Opens a page as an administrator, in a window of a width. */
  async function openWide(width: number, path: string): Promise<TestPage> {
    const { world } = given();
    const page = await world.open(world.fleet, path);
    await page.setViewportSize({ width, height: 800 });
    await signInAtProvider(page);
    return page;
  }

  test.each([
    [1280, 'its page', 'Review update'],
    [360, 'the list', 'Update updated-360'],
  ])('at a width of %i pixels, two clicks from %s update a deployment to a new version', async (width, place, link) => {
    const name = `updated-${width}`;
    const version = `2.${width}.0`;
    const id = await anOutdatedGreeter(name, version);
    const page = await openWide(width, place === 'the list' ? '/deployments' : `/deployments/${id}`);
    await page.getByRole('link', { name: link, exact: true }).click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByRole('row', { name: new RegExp(`^EDITION .* ${version}$`) }).waitFor({ timeout: CHANGE_MS });
    await page.getByRole('heading', { name: `Update ${name} to ${version}`, level: 1 }).waitFor();
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
    expect(page.complaints).toEqual([]);
    await given().world.call({ service: 'fleet', method: 'DELETE', path: `/deployments/${id}` });
  });

  test('an update that is not as it was reviewed is shown again, and then applied', async () => {
    const id = await anOutdatedGreeter('reviewed', '3.0.0');
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
    expect(page.complaints.filter((one) => !one.includes('a status of 409'))).toEqual([]);
    await given().world.call({ service: 'fleet', method: 'DELETE', path: `/deployments/${id}` });
  });
}
