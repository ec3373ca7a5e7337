import { expect, test } from '@jest/globals';
import { type AnyControl, templateControls, templateExamples } from '@svc/contract';
import type { TestPage } from '@svc/testing/browser';
import { people } from '../../src/environments.ts';
import { type ConsoleWorld, FETCH, findProblems, signInByKeys } from './console-world.ts';
import { type Keys, keysOf } from './keys.ts';

/** Flows of the hub, and what they change in a fleet. The keyboard drives them alone. */
export function testHubFlows(given: () => ConsoleWorld): void {
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
    expect(await isAccepted(first)).toBe(false);
    expect(await isAccepted(second)).toBe(true);
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
  });

  test('an administrator sets each member of a template in the form', async () => {
    const world = given();
    const page = await world.open(world.hub, '/admin/templates/new');
    const keys = keysOf(page);
    await signInByKeys(page);
    const form = page.locator('form');
    await keys.fill(form.getByLabel(/^Name/).first(), 'All members');
    await keys.choose(form.getByLabel(/^Category/), 'Databases');
    for (const { label, control, example } of templateControls) await enter({ form, keys }, label, control, example);
    expect(await findProblems(page, { widths: [360] })).toEqual([]);
    await keys.press(page.getByRole('button', { name: 'Create', exact: true }));
    await page.getByRole('heading', { name: 'All members', level: 1 }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const { template } = Object(await world.call({ service: 'hub', method: 'GET', path: `/admin/templates/${id}` }));
    expect(template).toMatchObject(templateExamples);
    expect(page.complaints).toEqual([]);
  });
}

/** The form of a template, and the catalog on a phone. */
export function testFormAndCatalog(given: () => ConsoleWorld): void {
  test('a form of a template leads to what must be corrected, asks before input is lost, and begins with a file or a copy', async () => {
    const world = given();
    const page = await world.open(world.hub, '/admin/templates');
    const keys = keysOf(page);
    await signInByKeys(page);
    await keys.press(page.getByRole('link', { name: 'New template' }).first());
    const form = page.locator('form');
    await keys.fill(form.getByLabel('CPU', { exact: true }), 'much');
    await keys.press(page.getByRole('button', { name: 'Create', exact: true }));
    const summary = page.getByRole('alert').filter({ hasText: 'must be corrected' });
    await summary.waitFor();
    // The first invalid control of the form has the focus, and is in the window.
    const focused = 'document.activeElement.name + " " + (document.activeElement.getBoundingClientRect().top >= 0)';
    expect(await page.evaluate(focused)).toBe('name true');
    await keys.press(summary.getByRole('button', { name: 'CPU' }));
    expect(await page.evaluate(focused)).toBe('cpu_request true');
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);

    await keys.press(page.getByRole('link', { name: 'Categories', exact: true }));
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await keys.press(question.getByRole('button', { name: 'Cancel' }));
    expect(new URL(page.url()).pathname).toBe('/admin/templates/new');
    await page.goBack();
    await keys.press(question.getByRole('button', { name: 'Cancel' }));
    expect(await form.getByLabel('CPU', { exact: true }).inputValue()).toBe('much');
    await keys.press(page.getByRole('link', { name: 'Templates', exact: true }).first());
    await keys.press(question.getByRole('button', { name: 'Leave' }));
    await page.getByRole('heading', { name: 'Templates', level: 1 }).waitFor();

    await keys.press(page.getByRole('link', { name: 'Import YAML' }));
    const dialog = page.getByRole('dialog', { name: 'Import YAML' });
    const file =
      'name: From a file\ncategory: databases\nimage_name: library/redis\nenv_schema:\n  - name: PASSWORD\n    description: A password [internal] [secret]\n';
    await dialog.getByLabel('Content').fill(`${file}gpu_count: x\n`);
    await keys.press(dialog.getByRole('button', { name: 'Fill in the form' }));
    await dialog.getByText(/^line 7: gpu_count: /).waitFor();
    await dialog.getByLabel('Content').fill(file);
    await keys.press(dialog.getByRole('button', { name: 'Fill in the form' }));
    await dialog.waitFor({ state: 'detached' });
    expect(await form.getByLabel(/^Name/).first().inputValue()).toBe('From a file');
    const variable = form.getByRole('group', { name: 'Variables that users set, entry 1' });
    expect(await variable.getByLabel('Description').inputValue()).toBe('A password');
    expect(await variable.getByLabel('Internal').isChecked()).toBe(true);
    await keys.toggle(variable.getByLabel('Internal'));
    await keys.press(page.getByRole('button', { name: 'Create', exact: true }));
    await page.getByRole('heading', { name: 'From a file', level: 1 }).waitFor();

    await keys.press(page.getByRole('link', { name: 'Duplicate' }));
    await page.getByRole('heading', { name: 'New template', level: 1 }).waitFor();
    await keys.press(page.getByRole('button', { name: 'Create', exact: true }));
    await page.getByRole('heading', { name: 'From a file (copy)', level: 1 }).waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1);
    const { template } = Object(await world.call({ service: 'hub', method: 'GET', path: `/admin/templates/${id}` }));
    expect(template).toMatchObject({
      slug: 'from-a-file-copy',
      image_name: 'library/redis',
      env_schema: [{ description: 'A password [secret]' }],
    });
    expect(page.complaints).toEqual([]);
  });

  test('an administrator creates an application of two parts in a form, corrects a mistake, replaces its content with a file, and restores an earlier revision and a deleted application', async () => {
    const world = given();
    const page = await world.open(world.hub, '/admin/applications');
    const keys = keysOf(page);
    await signInByKeys(page);
    await keys.press(page.getByRole('link', { name: 'New application' }).first());
    const form = page.locator('form');
    await keys.fill(form.locator('[name="name"]'), 'Two parts');
    await keys.choose(form.getByLabel(/^Category/), 'Databases');
    const inputs = form.getByRole('group', { name: 'Values that people enter', exact: true });
    await keys.press(inputs.getByRole('button', { name: 'Add an input' }));
    await keys.fill(inputs.locator('[name="inputs.0.name"]'), 'size');
    await keys.choose(inputs.locator('[name="inputs.0.type"]'), 'Number');
    await keys.fill(inputs.locator('[name="inputs.0.default"]'), '3');
    await keys.fill(form.locator('[name="parts.0.name"]'), 'web');
    await keys.fill(form.locator('[name="parts.0.image_name"]'), 'team/wiki');
    await keys.fill(form.locator('[name="parts.0.env"]'), `SIZE=\${inputs.size}`);
    await keys.press(form.getByRole('button', { name: 'Add a port' }));
    await keys.fill(form.locator('[name="parts.0.ports.0.containerPort"]'), '8080');
    await keys.toggle(form.locator('[name="parts.0.ports.0.publish"]'));
    await keys.press(form.getByRole('button', { name: 'Add a part that it needs' }));
    await keys.fill(form.locator('[name="parts.0.needs.0.part"]'), 'databse');
    await keys.press(form.getByRole('button', { name: 'Add a part', exact: true }));
    await keys.fill(form.locator('[name="parts.1.name"]'), 'database');
    await keys.fill(form.locator('[name="parts.1.image_name"]'), 'library/postgres');
    await keys.press(page.getByRole('button', { name: 'Publish', exact: true }));
    const summary = page.getByRole('alert').filter({ hasText: 'must be corrected' });
    await keys.press(summary.getByRole('button', { name: /^web: Starts after, entry 1/ }));
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
    await keys.fill(form.locator('[name="parts.0.needs.0.part"]'), 'database');
    await keys.press(page.getByRole('button', { name: 'Check', exact: true }));
    await page.getByText('it has no SVC_HEALTH_CHECK', { exact: false }).first().waitFor();
    await keys.press(page.getByRole('button', { name: 'Publish', exact: true }));
    await page.getByRole('heading', { name: 'Two parts', level: 1 }).waitFor();
    const path = `/admin/applications/${new URL(page.url()).pathname.split('/').at(-1)}`;
    const content = async () => Object(await world.call({ service: 'hub', method: 'GET', path })).application;
    expect(await content()).toMatchObject({
      inputs: [{ name: 'size', type: 'number', default: 3 }],
      parts: [
        { name: 'web', needs: [{ part: 'database', until: 'ready' }], ports: [{ containerPort: 8080, publish: true }] },
        { name: 'database', image_name: 'library/postgres' },
      ],
    });

    await keys.press(page.getByRole('button', { name: 'Import YAML' }));
    const dialog = page.getByRole('dialog', { name: 'Import YAML' });
    await dialog
      .getByLabel('Content')
      .fill('name: One part\nslug: two-parts\ncategory: databases\nparts:\n- { name: all, image_name: team/wiki }\n');
    await keys.press(dialog.getByRole('button', { name: 'Fill in the form' }));
    await dialog.waitFor({ state: 'detached' });
    await keys.press(page.getByRole('button', { name: 'Publish the changes' }));
    await page.getByRole('heading', { name: 'One part', level: 1 }).waitFor();
    expect(await content()).toMatchObject({ slug: 'two-parts', inputs: [], parts: [{ name: 'all' }] });

    await keys.press(page.getByRole('link', { name: 'History', exact: true }));
    await keys.select(page.getByRole('button', { name: 'Actions for revision 1' }), 'Restore…');
    const restoration = page.getByRole('dialog');
    await restoration.getByRole('row', { name: /^Name One part Two parts$/ }).waitFor();
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
    await keys.fill(restoration.getByLabel('Message'), 'Both parts are needed');
    await keys.press(restoration.getByRole('button', { name: 'Restore', exact: true }));
    await page.getByRole('row', { name: /Both parts are needed/ }).waitFor();
    expect(await content()).toMatchObject({ name: 'Two parts', parts: [{ name: 'web' }, { name: 'database' }] });
    await keys.press(page.getByRole('link', { name: 'Content', exact: true }));
    await page.getByText('Part database').waitFor();

    await keys.fill(form.locator('[name="name"]'), 'Not saved');
    await keys.press(page.getByRole('link', { name: 'History', exact: true }));
    await keys.press(page.getByRole('dialog').getByRole('button', { name: 'Leave' }));
    await page.getByRole('row', { name: /Both parts are needed/ }).waitFor();

    await keys.press(page.getByRole('link', { name: 'Status and advisories' }));
    await page.getByText(/[0-9] organizations? sees? this application\. Everyone else can see it, too\./).waitFor();
    await keys.choose(
      page.getByRole('combobox', { name: 'Status' }),
      'Deprecated: it works, and should no longer be used',
    );
    await keys.fill(page.getByLabel('Reason'), 'One part is enough');
    await keys.press(page.getByRole('button', { name: 'Publish the status' }));
    await keys.press(page.getByRole('button', { name: 'New advisory' }));
    await keys.fill(restoration.getByLabel(/^Message/), 'Revision 2 has no database.');
    await keys.fill(restoration.getByLabel('First revision'), '2');
    await keys.fill(restoration.getByLabel('Last revision'), '2');
    await keys.press(restoration.getByRole('button', { name: 'Publish', exact: true }));
    await page.getByText('Revisions 2 to 2').waitFor();
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
    await page.goto(`${world.hub}/applications/two-parts`);
    await page.getByText('One part is enough').waitFor();
    await page.getByText('Revision 2 has no database.').waitFor();

    await page.goto(`${world.hub}/admin/applications?q=two-parts`);
    await keys.select(page.getByRole('button', { name: 'Actions for Two parts' }), 'Delete…');
    await keys.fill(restoration.getByLabel('Type two-parts to confirm'), 'two-parts');
    await keys.fill(restoration.getByLabel('Message'), 'Nobody uses it');
    await keys.press(restoration.getByRole('button', { name: 'Delete', exact: true }));
    await restoration.waitFor({ state: 'detached' });
    await keys.choose(page.getByLabel('Show'), 'Deleted');
    await page.getByRole('row', { name: /Nobody uses it/ }).waitFor();
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
    await keys.press(page.getByRole('link', { name: 'Two parts', exact: true }));
    await keys.select(page.getByRole('button', { name: 'Actions for revision 3' }), 'Restore…');
    await keys.press(restoration.getByRole('button', { name: 'Restore', exact: true }));
    await page.getByRole('link', { name: 'View in the catalog' }).waitFor();
    expect(page.complaints).toEqual([]);
  });

  test('an administrator restores a revision after a preview and a deleted template, and publishes what readers should know', async () => {
    const world = given();
    const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) =>
      Object(await world.call({ service: 'hub', method, path, ...(body && { body }) }));
    const { categories } = await call('GET', '/admin/categories');
    const { id: category_id } = categories.find(({ is_private }: { is_private: boolean }) => !is_private);
    const { template } = await call('POST', '/admin/templates', { name: 'Restored', category_id, image_tag: '1' });
    const { id } = template;
    await call('PUT', '/admin/templates', { id, image_tag: '2', message: 'A new image' });

    const page = await world.open(world.hub, `/admin/templates/${id}?tab=history`);
    const keys = keysOf(page);
    await signInByKeys(page);
    await page.getByRole('row', { name: /A new image/ }).waitFor();
    const dialog = page.getByRole('dialog');
    await keys.select(page.getByRole('button', { name: 'Actions for revision 1' }), 'Restore…');
    await dialog.getByRole('row', { name: /^Tag 2 1$/ }).waitFor();
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
    await keys.fill(dialog.getByLabel('Message'), 'It does not start');
    await keys.press(dialog.getByRole('button', { name: 'Restore', exact: true }));
    await page.getByRole('row', { name: /It does not start/ }).waitFor();
    expect((await call('GET', `/admin/templates/${id}`)).template).toMatchObject({ image_tag: '1', revision: 3 });

    await keys.press(page.getByRole('link', { name: 'Status and advisories' }));
    await page.getByText('Everyone else can see it, too.').waitFor();
    await keys.press(page.getByRole('button', { name: 'New advisory' }));
    await dialog.getByText(/[0-9] organizations? sees? this template\./).waitFor();
    await keys.fill(dialog.getByLabel(/^Message/), 'Revision 2 does not start.');
    await keys.fill(dialog.getByLabel('First revision'), '2');
    await keys.fill(dialog.getByLabel('Last revision'), '2');
    await keys.press(dialog.getByRole('button', { name: 'Publish', exact: true }));
    await page.getByText('Revisions 2 to 2').waitFor();
    expect(await findProblems(page, { widths: [360, 1280] })).toEqual([]);
    const reader = await world.open(world.hub, `/templates/${template.slug}`);
    await reader.getByText('Revision 2 does not start.').waitFor();
    await reader.getByText('It does not start').waitFor();
    expect(await findProblems(reader, { widths: [360, 1280] })).toEqual([]);

    await call('DELETE', '/admin/templates', { id });
    await page.goto(`${world.hub}/admin/templates?show=deleted`);
    await keys.press(page.getByRole('link', { name: 'Restored', exact: true }));
    await page.getByText('Deleted').first().waitFor();
    await keys.select(page.getByRole('button', { name: 'Actions for revision 3' }), 'Restore…');
    await keys.press(dialog.getByRole('button', { name: 'Restore', exact: true }));
    await page.getByRole('link', { name: 'View in the catalog' }).waitFor();
    expect([...page.complaints, ...reader.complaints]).toEqual([]);
  });

  test('a reader on a phone filters the catalog by numbers, reads documentation, and requests access by a slug', async () => {
    const world = given();
    const documentation =
      '# Guide\n\n[![CI](https://example.com/i.svg)](https://example.com)\n\n[Start](#start)\n\n<!-- hidden -->\n\n- [x] done\n\n| a |\n|--:|\n| 1&nbsp;GiB |\n\n<details><summary>More</summary>\n\ninside\n\n</details>\n\n## Start\n\na<br>b &rarr; c\n';
    const { categories } = Object(await world.call({ service: 'hub', method: 'GET', path: '/admin/categories' }));
    const { id } = categories.find(({ is_private }: { is_private: boolean }) => !is_private);
    const body = { name: 'Guide', kind: 'job', category_id: id, documentation };
    await world.call({ service: 'hub', method: 'POST', path: '/admin/templates', body });
    const page = await world.open(world.hub, '/');
    await page.setViewportSize({ width: 360, height: 740 });
    const total = page.getByRole('status').filter({ hasText: /^[0-9]+ templates?$/ });
    const jobs = page.getByRole('group', { name: 'Kind' }).getByRole('button', { name: /^Job/ });
    const [, count] = /\(([0-9]+)\)/.exec((await jobs.textContent()) ?? '') ?? [];
    await jobs.click();
    await total.filter({ hasText: new RegExp(`^${count} `) }).waitFor();
    await page.getByLabel('Order').selectOption({ label: 'Newest first' });
    await page.waitForURL(/kind=job&sort=-created_at/);
    expect(await findProblems(page, { widths: [360] })).toEqual([]);
    await page.getByRole('link', { name: 'Guide', exact: true }).click();
    await page.getByRole('heading', { name: 'Start', level: 3 }).waitFor();
    const shown = page.locator('.prose');
    expect(await shown.getByRole('link', { name: 'CI' }).count()).toBe(1);
    expect(await shown.getByRole('checkbox', { name: 'Task' }).isChecked()).toBe(true);
    expect(await shown.getByText('hidden').count()).toBe(0);
    expect(await shown.locator('p', { hasText: 'b → c' }).locator('br').count()).toBe(1);
    await shown.getByRole('link', { name: 'Start' }).click();
    await page.waitForURL(/#doc-start$/);
    expect(await findProblems(page, { widths: [360] })).toEqual([]);

    await page.getByRole('button', { name: 'Open the navigation' }).click();
    await signInByKeys(page, people.user);
    await page.evaluate(`${FETCH}('/api/v1/auth/session').then((session) => session.json()).then(({ user }) => user.organization ??
      ${FETCH}('/api/v1/account/organizations', {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ name: 'Readers' }),
      })).then(() => undefined)`);
    await page.goto(`${world.hub}/`);
    await page.getByRole('button', { name: 'Request access' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Slug/).fill('perhaps-it-exists');
    await dialog.getByRole('button', { name: 'Send the request' }).click();
    await page.getByText('The request is sent to the administrators').waitFor();
    const admin = await world.open(world.hub, '/admin/access');
    await signInByKeys(admin);
    await admin.getByRole('link', { name: /^Access [0-9]+ open access requests?$/ }).waitFor();
    await admin.setViewportSize({ width: 360, height: 740 });
    expect(await findProblems(admin, { widths: [360] })).toEqual([]);
    expect([...page.complaints, ...admin.complaints]).toEqual([]);
  });
}

interface FormInUse {
  readonly form: ReturnType<TestPage['locator']>;
  readonly keys: Keys;
}

/** Enters a value into the control with a label. */
async function enter({ form, keys }: FormInUse, label: string, control: AnyControl, value: unknown): Promise<void> {
  const field = form.getByLabel(label, { exact: true });
  if (control.kind === 'objects') {
    for (const object of value as readonly Readonly<Record<string, unknown>>[]) {
      const list = form.getByRole('group', { name: label, exact: true });
      await keys.press(list.getByRole('button', { name: control.add }));
      const last = list.getByRole('group').last();
      for (const [name, member] of Object.entries(control.members)) {
        if (object[name] !== undefined) await enter({ form: last, keys }, member.label, member.control, object[name]);
      }
    }
  } else if (control.kind === 'checkbox') {
    if ((await field.isChecked()) !== value) await keys.toggle(field);
  } else if (control.kind === 'select') {
    await keys.choose(field, control.options[String(value)] ?? '');
  } else {
    await keys.fill(field.first(), textOf(control, value));
  }
}

/** A value in the notation of a control. */
function textOf(control: AnyControl, value: unknown): string {
  if (!Array.isArray(value)) {
    if (control.kind !== 'map') return String(value);
    return Object.entries(Object(value))
      .map(([key, text]) => `${key}=${text}`)
      .join('\n');
  }
  const separator = { words: ' ', tags: ', ' }[String(control.kind)] ?? '\n';
  const between = control.kind === 'ports' ? '/' : '=';
  return value.map((one) => (typeof one === 'object' ? Object.values(one).join(between) : one)).join(separator);
}
