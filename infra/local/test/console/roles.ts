import { expect, test } from '@jest/globals';
import type { Endpoint } from '@svc/contract';
import { type FleetAccess, fleetEndpoints } from '@svc/contract/fleet';
import { hubEndpoints } from '@svc/contract/hub';
import type { TestPage } from '@svc/testing/browser';
import { type ConsoleWorld, FETCH, signInAtProvider } from './console-world.ts';
import type { ConsolePages } from './objects.ts';
import { settle, visit } from './visits.ts';

interface Given {
  readonly world: ConsoleWorld;
  readonly pages: ConsolePages;
}

/** The disabled actions of pages, by page and by reason. */
type Blocked = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** Reasons that concern the caller, not the state of an object. */
const IS_OF_CALLER =
  /^(?:This requires the role|Only administrators|Sign in|Members of a suspended organization|Create or join)/;

/** The actions of a page, and of the first menu on it, that are disabled for the caller. */
async function blockedOn(page: TestPage): Promise<Record<string, readonly string[]>> {
  const menu = page.getByRole('button', { name: /^Actions for / });
  const hasMenu = (await menu.count()) > 0;
  if (hasMenu) {
    await menu.first().click();
    await page.getByRole('menuitem').first().waitFor();
  }
  const found =
    (await page.evaluate(`[...document.querySelectorAll('[data-blocked], [role=menuitem][aria-disabled=true]')].map((control) => [
    control.dataset.blocked ?? control.title,
    control.ariaLabel ?? (control.querySelector('span')?.firstChild ?? control).textContent.trim(),
  ])`)) as [reason: string, label: string][]; // see above
  if (hasMenu) await page.keyboard.press('Escape');
  const blocked: Record<string, readonly string[]> = {};
  for (const [reason, label] of found) {
    if (IS_OF_CALLER.test(reason)) blocked[reason] = [...new Set([...(blocked[reason] ?? []), label])].sort();
  }
  return blocked;
}

/** Waits until no response has ended for a moment. */
const responded = (page: TestPage): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    let last = performance.now();
    const observer = new PerformanceObserver(() => { last = performance.now(); });
    observer.observe({ type: 'resource' });
    const check = () => performance.now() - last > 150 ? (observer.disconnect(), resolve()) : setTimeout(check, 30);
    check();
  })`);

interface Seen {
  /** Pages that are not for the role, with what they state. */
  readonly refused: Readonly<Record<string, readonly string[]>>;
  readonly blocked: Blocked;
}

/** What the pages do not permit to the user who is signed in. */
async function walk(page: TestPage, paths: readonly string[]): Promise<Seen> {
  const refused: Record<string, string[]> = {};
  const blocked: Record<string, Record<string, readonly string[]>> = {};
  for (const path of paths) {
    const name = path.replace(/[\da-f]{8}-[\da-f-]{27}/g, ':id');
    if (name.includes(':id?')) continue; // a tab has the actions of its page
    await visit(page, path);
    // Some pages show their filters before the service has responded.
    await responded(page);
    const refusal = page.getByRole('main').getByText(/^(?:Not permitted|Sign in to continue)$/);
    for (const words of await refusal.allTextContents())
      refused[words] = [...new Set([...(refused[words] ?? []), name])];
    const reasons = await blockedOn(page);
    if (Object.keys(reasons).length > 0) blocked[name] = reasons;
  }
  return { refused, blocked };
}

/**
 * The operations with some accesses that the service does not reject when a script of the page
 * sends them.
 */
async function notRejected(
  page: TestPage,
  endpoints: Readonly<Record<string, Endpoint>>,
  accesses: readonly string[],
): Promise<unknown> {
  const requests = Object.values(endpoints)
    .filter(({ access }) => accesses.includes(access))
    .map(({ operationId, method, path }) => ({
      operationId,
      method: method.toUpperCase(),
      path: path.replace(/:\w+/g, '00000000-0000-4000-8000-000000000000'),
    }));
  expect(requests.length).toBeGreaterThanOrEqual(accesses.length);
  return page.evaluate(`Promise.all(${JSON.stringify(requests)}.map(async ({ operationId, method, path }) => {
    const body = method === 'GET' || method === 'DELETE' ? {} : { headers: { 'Content-Type': 'application/json' }, body: '{}' };
    const { status } = await ${FETCH}(path, { method, ...body });
    return { operationId, status };
  })).then((all) => all.filter(({ status }) => status !== 403 && status !== 401))`);
}

/** The rows of the policy table that a role of the fleet does not have. */
const deniedInFleet: Readonly<Record<'viewer' | 'operator', readonly FleetAccess[]>> = {
  viewer: [
    'audit',
    'catalog-sync',
    'people-write',
    'plans-review',
    'resources-write',
    'secrets-write',
    'settings',
    'values-reveal',
  ],
  operator: ['audit', 'people-write', 'secrets-write', 'settings'],
};

const by = (reason: string, pages: Readonly<Record<string, readonly string[]>>): Blocked =>
  Object.fromEntries(Object.entries(pages).map(([path, labels]) => [path, { [reason]: [...labels].sort() }]));

const pagesOfAdmins = { 'Not permitted': ['/settings?tab=approvals', '/audit', '/settings', '/settings?tab=hub'] };

const forAdmins = by('This requires the role admin.', {
  '/secrets': ['New secret', 'Replace the values…', 'Change who may use it…', 'Delete…'],
  '/deploy/applications/ghost': ['New secret'],
  '/users': ['New user', 'Change the role…', 'Block…', 'Invite…', 'Set a password…', 'Remove…'],
  '/sync': ['Import a file…'],
  '/tokens': ['New token', 'Reissue…', 'Revoke…'],
});

const forOperators = by('This requires the role operator or admin.', {
  '/deployments': ['Change…', 'Scale…', 'Restart…', 'Stop…', 'Delete…'],
  '/deployments/:id': ['Change', 'Check now', 'Scale', 'Restart', 'Stop', 'Delete'],
  '/deployments/:id/change': ['Apply the change'],
  '/deployments/:id/update': ['Update'],
  '/applications/:id': ['Start', 'Delete', 'Change'],
  '/updates/new?chosen=:id': ['Update 0'],
  '/workloads/:id': ['Update from the template', 'New revision', 'Delete'],
  '/workloads/:id/revision': ['Create the revision'],
  '/deploy/postgresql': ['Deploy'],
  '/deploy/applications/ghost': ['Deploy'],
  '/deployments/new': ['Deploy'],
  '/hosts': ['Add a host'],
  '/hosts/new': ['Check the connection'],
  '/hosts/:id': ['Check', 'Disable scheduling', 'Edit', 'Remove'],
  '/clusters': ['Add a cluster'],
  '/clusters/new': ['Check the connection'],
  '/clusters/:id': ['Check', 'Edit', 'Remove'],
  '/plans/:id': ['Approve', 'Reject…'],
  '/sources': ['New source', 'Read now', 'Change…', 'Disable', 'Replace the secret of notifications…', 'Delete…'],
  '/storage': ['New volume', 'Edit…', 'Delete…'],
  '/sync': ['Full sync', 'Sync now'],
});

/** What viewers cannot do. A page can have actions of both roles. */
const forBoth: Blocked = Object.fromEntries(
  Object.keys({ ...forOperators, ...forAdmins }).map((path) => [path, { ...forOperators[path], ...forAdmins[path] }]),
);

/** The accesses of administrators of the hub. */
const ofAdministrators = ['admin', 'publish-import', 'publish-export'];

const administrationOfHub = [
  '/statistics',
  '/admin/templates',
  '/admin/applications',
  '/admin/templates/:id',
  '/admin/categories',
  '/admin/access',
  '/admin/access?tab=requests',
  '/admin/access?tab=view',
  '/admin/access?tab=view&org=demo',
  '/admin/organizations',
  '/admin/users',
  '/admin/keys',
  '/admin/service-tokens',
  '/admin/webhooks',
  '/admin/audit',
];

export function testRoles(given: () => Promise<Given>): void {
  test('each page of the fleet as viewer and as operator states what the role does not permit, and the fleet rejects it', async () => {
    const { world, pages } = await given();
    const walkAs = async (role: 'viewer' | 'operator'): Promise<Seen> => {
      const email = `${role}-of-all-pages@example.test`;
      const password = 'a long and unusual passphrase';
      await world.call({ service: 'fleet', method: 'POST', path: '/users', body: { email, role, password } });
      const page = await world.open(world.fleet, '/');
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('button', { name: /^Account of / }).waitFor();
      expect(await page.getByRole('link', { name: /^(?:Settings|Audit log)$/ }).count()).toBe(0);
      const seen = await walk(page, pages.fleet);
      expect(await notRejected(page, fleetEndpoints, deniedInFleet[role])).toEqual([]);
      expect(page.complaints).toEqual([]);
      return seen;
    };
    const [viewer, operator] = await Promise.all([walkAs('viewer'), walkAs('operator')]);
    expect(viewer).toEqual({ refused: pagesOfAdmins, blocked: forBoth });
    expect(operator).toEqual({ refused: pagesOfAdmins, blocked: forAdmins });
  });

  test('each page of the hub by role states what the role does not permit, and the hub rejects it', async () => {
    const { world, pages } = await given();
    const visitor = await world.open(world.hub, '/');
    await settle(visitor);
    const ofUsers = ['account', 'account-change', 'account-keys', 'account-members'];
    const asVisitor = await walk(visitor, pages.hub);
    expect(await notRejected(visitor, hubEndpoints, [...ofUsers, ...ofAdministrators])).toEqual([]);

    const open = async (email: string) => {
      const page = await world.open(world.hub, '/account');
      await page.getByRole('button', { name: 'Sign in' }).first().waitFor();
      await signInAtProvider(page, email);
      await page.getByRole('button', { name: /^Account of / }).waitFor();
      return page;
    };
    const page = await open('operator@example.test');
    const withoutOrganization = await walk(page, pages.hub);
    expect(await notRejected(page, hubEndpoints, ofAdministrators)).toEqual([]);

    const owner = await open('user@example.test');
    await send(owner, 'POST', '/account/organizations', { name: 'Roles', slug: 'roles' });
    await send(owner, 'POST', '/account/api-keys', { name: 'of a member' });
    const invited = await send(owner, 'POST', '/account/invitations', { org_role: 'member' });
    // The contract states this shape.
    const { invitation } = invited as { invitation: { code: string } };
    await send(page, 'POST', '/account/members', { code: invitation.code });
    await page.reload();
    const pagesOfOrganization = ['/organization', '/organization?tab=access', '/keys', '/account', '/templates/absent'];
    const asMember = await walk(page, pagesOfOrganization);
    expect(await notRejected(page, hubEndpoints, ['account-keys', 'account-members', ...ofAdministrators])).toEqual([]);
    const { organization } = (await send(owner, 'GET', '/account/organizations')) as {
      organization: { id: string; version: number }; // the contract of the response
    };
    const suspend = (status: 'active' | 'suspended') =>
      world.call({
        service: 'hub',
        method: 'PUT',
        path: `/admin/organizations?id=${organization.id}`,
        body: { status },
      });
    await suspend('suspended');
    await owner.reload();
    const whileSuspended = await walk(owner, pagesOfOrganization);
    expect(await notRejected(owner, hubEndpoints, ['account-change', 'account-keys', ...ofAdministrators])).toEqual([]);
    await suspend('active');

    const publicPages = ['/', '/templates/postgresql', '/templates/absent'];
    const signedIn = asVisitor.refused['Sign in to continue'] ?? [];
    expect(asVisitor.blocked).toEqual({});
    expect(pages.hub.length).toBe(publicPages.length + signedIn.length);
    expect(publicPages.filter((path) => signedIn.includes(path))).toEqual([]);
    expect(withoutOrganization.refused).toEqual({ 'Not permitted': administrationOfHub });
    expect(withoutOrganization.blocked).toEqual({
      ...by('Create or join an organization first.', {
        '/': ['Request access'],
        '/templates/postgresql': ['Request access'],
        '/templates/absent': ['Request access'],
        '/keys': ['New key'],
      }),
      ...by('Only administrators of the hub can do this.', {
        '/admin/templates/new': ['Create'],
        '/admin/applications/new': ['Check', 'Publish'],
      }),
    });
    const ofMember = {
      '/organization': ['Invite', 'Remove Olga Operator', 'Remove Uma User'],
      '/keys': ['New key', 'Rename…', 'Reissue…', 'Revoke…'],
    };
    expect(asMember).toEqual({
      refused: {},
      blocked: by('Only administrators of your organization can do this.', ofMember),
    });
    expect(whileSuspended).toEqual({
      refused: {},
      blocked: by('Members of a suspended organization have read access only.', {
        ...ofMember,
        '/organization?tab=access': ['Request access'],
        '/account': ['Save'],
        '/templates/absent': ['Request access'],
      }),
    });
    expect([...visitor.complaints, ...owner.complaints, ...page.complaints]).toEqual([]);
  });
}

/**
 * Sends a request from a page, with its session. @returns the body of the response, or undefined if
 * the service rejects it
 */
function send(page: TestPage, method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
  const options = {
    method,
    ...(body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  };
  return page.evaluate(
    `${FETCH}('/api/v1${path}', ${JSON.stringify(options)}).then((response) => response.ok ? response.json() : undefined)`,
  );
}
