import { expect, test } from '@jest/globals';
import { eventually, scaled } from '@svc/testing';
import type { TestEngine } from '@svc/testing/engine';
import { type ConsoleWorld, findProblems, signInAtProvider, untilShows } from './console-world.ts';

const CHANGE_MS = scaled(60_000);
const WIDTHS = [360, 1280];

/** The members of an image such as `localhost/team/tool:1`. */
function imageOf(reference: string) {
  const [registry_url, ...names] = reference.split('/');
  const [image_name, image_tag] = names.join('/').split(':');
  return { registry_url, image_name, image_tag };
}

/** A program and its database, as a publisher describes them. */
const anApplication = (category_id: string, image: ReturnType<typeof imageOf>) => ({
  name: 'Minutebook',
  slug: 'minutebook',
  category_id,
  description: 'Keeps records.',
  inputs: [
    { name: 'title', label: 'Title of the page', default: 'Records' },
    { name: 'public', label: 'Public', type: 'boolean', default: false },
  ],
  generated: [{ name: 'password' }],
  parts: [
    {
      name: 'database',
      ...image,
      command: [
        '/bin/sh',
        '-c',
        'mkdir -p "/data/$PASSWORD" && echo "$TITLE" > "/data/$PASSWORD/index.html" && exec httpd -f -p 5432 -h /data',
      ],
      ports: [{ containerPort: 5432 }],
      volume_mounts: [{ name: 'records', mountPath: '/data' }],
      env: [
        { name: 'PASSWORD', value: `\${generated.password}` },
        { name: 'TITLE', value: `\${inputs.title}, public: \${inputs.public}` },
      ],
    },
    {
      name: 'web',
      ...image,
      command: [
        '/bin/sh',
        '-c',
        'mkdir /tmp/www; until wget -q -O /tmp/www/index.html "http://$DATABASE/$PASSWORD/"; do sleep 0.2; done; exec httpd -f -p 8080 -h /tmp/www',
      ],
      needs: [{ part: 'database' }],
      ports: [{ containerPort: 8080, publish: true }],
      env: [
        { name: 'PASSWORD', value: `\${generated.password}` },
        { name: 'DATABASE', value: `\${parts.database.address.5432}` },
      ],
    },
  ],
});

/** From an application that is published in the hub to its page in a browser. It needs a real engine. */
export function testCatalogApplications(
  given: () => { readonly world: ConsoleWorld; readonly engine: TestEngine },
): void {
  test('an application of the catalog is found, read, planned with its values and as a file, deployed, opened, and upgraded automatically from then on', async () => {
    const { world, engine } = given();
    const ofHub = (method: 'GET' | 'POST', path: string, body?: object) =>
      world.call({ service: 'hub', method, path, ...(body && { body }) });
    const ofFleet = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
      world.call({ service: 'fleet', method, path, ...(body && { body }) });
    const [category] = Object(await ofHub('GET', '/catalog/categories')).categories;
    await ofHub('POST', '/admin/applications', anApplication(category.id, imageOf(engine.image)));
    await ofFleet('POST', '/catalog/sync', {});

    const page = await world.open(world.fleet, '/applications');
    await signInAtProvider(page);
    await page.getByRole('link', { name: 'Deploy from the catalog' }).click();
    await page.getByRole('searchbox', { name: 'Search applications' }).fill('minutebook');
    await page.getByText('1 application', { exact: true }).waitFor({ timeout: CHANGE_MS });
    expect(await findProblems(page, { widths: WIDTHS })).toEqual([]);
    await page.getByRole('link', { name: 'Minutebook', exact: true }).click();
    await page.getByRole('cell', { name: '8080/TCP' }).waitFor();
    expect(await findProblems(page, { widths: WIDTHS })).toEqual([]);
    await page.getByRole('link', { name: 'Deploy', exact: true }).click();

    await page.getByLabel('Title of the page').fill('Minutes');
    await page.getByLabel('Public').selectOption('true');
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('Runs on local').waitFor({ timeout: CHANGE_MS });
    await plan.getByText('as the deployment minutebook-database').waitFor();
    await page.locator('section[aria-busy="false"]').filter({ hasText: 'Runs on local' }).waitFor();
    expect(await findProblems(page, { widths: WIDTHS })).toEqual([]);
    // The document of the form has the same plan.
    const text = await page.getByRole('region', { name: 'As a file' }).locator('pre').textContent();
    const planned = Object(await ofFleet('POST', '/plans', { files: [{ path: 'blog.yaml', text }] })).plan;
    expect(planned).toMatchObject({
      state: 'ready',
      changes: [{ kind: 'application', name: 'minutebook', action: 'create' }],
    });
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'I have copied them' }).click();
    const applications = async () => Object(await ofFleet('GET', '/applications')).applications;
    await eventually('the application runs', applications, {
      until: ([application]) => application?.phase === 'running',
      withinMs: CHANGE_MS,
    });
    const open = page.getByRole('link', { name: /^Open minutebook/ });
    await untilShows(page, open, CHANGE_MS);
    await page.getByRole('button', { name: 'Copy as file' }).waitFor();
    expect(await findProblems(page, { widths: WIDTHS })).toEqual([]);

    const policy = page.getByRole('region', { name: 'Updates' });
    await policy.getByText('Only when somebody starts them').waitFor();
    await policy.getByRole('button', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Updates begin').selectOption('application');
    await dialog.getByLabel('Begin only in a maintenance window').check();
    await dialog.getByLabel('Time zone').fill('Nowhere');
    await dialog.getByRole('button', { name: 'Apply the change' }).click();
    await dialog.locator('[name="updates.window.time_zone"][aria-invalid="true"]').waitFor();
    expect(await findProblems(page, { widths: WIDTHS, part: 'dialog[open]' })).toEqual([]);
    await dialog.getByLabel('Time zone').fill('Europe/Berlin');
    await dialog.getByLabel('If an update fails').selectOption('stop');
    await dialog.getByRole('button', { name: 'Apply the change' }).click();
    await policy.getByText('Automatically, when the application of the catalog changes').waitFor();
    await policy.getByText(/02:00 to 05:00, .*Europe\/Berlin/).waitFor();
    await policy.getByText('Wait for a person').waitFor();
    await page.getByRole('region', { name: 'As a file' }).getByText('from: application').waitFor();
    expect(await findProblems(page, { widths: WIDTHS })).toEqual([]);

    const url = (await open.getAttribute('href')) ?? '';
    const shown = await world.browser.open([url]);
    await shown.goto(url);
    await shown.getByText('Minutes, public: true').waitFor(); // what only the database has
    await shown.context().close();
    const { application } = Object(await ofFleet('GET', new URL(page.url()).pathname));
    expect(application).toMatchObject({
      slug: 'minutebook',
      inputs: { title: 'Minutes', public: true },
      updates: { from: 'application', window: { days: ['sat', 'sun'], time_zone: 'Europe/Berlin' }, ready_seconds: 10 },
      on_failure: 'stop',
    });
    await ofFleet('DELETE', `/applications/${application.id}`);
    const left = async () => Object(await ofFleet('GET', '/deployments')).deployments.length;
    await eventually('the application is deleted', left, { until: (count) => count === 0 });
    expect(page.complaints).toEqual([]);
  });
}
