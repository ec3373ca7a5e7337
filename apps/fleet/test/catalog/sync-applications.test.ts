// The mirror of the applications, which has a position of its own.
import { aTemplate } from '../a-template.ts';
import { anApplication } from '../an-application.ts';
import { answerWell, fromCall, refuse, sendChanged } from '../fake-hub.ts';
import { startSyncWorld } from './sync-world.ts';

const { hub, world, mirror } = await startSyncWorld();
const admin = world.asOperator;
const APPLICATIONS = '/api/v1/catalog/applications';

const sync = async (full = false) => {
  const { status, body } = await admin.post('/api/v1/catalog/sync', { full });
  return { status, body };
};
const slugs = async () => (await mirror.applications()).map(({ slug }) => slug).sort();

test('a sync mirrors the applications, their changes and their removals, page by page', async () => {
  const [one, two, three] = [
    anApplication({ slug: 'one' }),
    anApplication({ slug: 'two' }),
    anApplication({ slug: 'three' }),
  ];
  hub.publishApplications(one, two, three);
  hub.setPageSize(1);
  const { body } = await sync();
  expect(body.counts).toEqual({ templates: 0, categories: 0, applications: 3 });
  expect(hub.applicationRequests).toHaveLength(3);
  expect(await mirror.applications()).toEqual([one, two, three].sort((a, b) => (a.id < b.id ? -1 : 1)));
  hub.publishApplications({ ...two, description: 'changed' });
  hub.withdrawApplications(three);
  await sync();
  expect(await slugs()).toEqual(['one', 'two']);
  expect((await admin.get(`${APPLICATIONS}/two`)).body).toMatchObject({ description: 'changed', stale: false });
  expect((await admin.get(`${APPLICATIONS}/three`)).status).toBe(404);
});

test('applications are requested only after a change of the catalog, and after one of its templates', async () => {
  hub.publishApplications(anApplication());
  await sync();
  hub.applicationRequests.splice(0);
  await sync();
  await sync();
  expect(hub.applicationRequests).toEqual([]);
  hub.publish(aTemplate());
  await sync();
  expect(hub.applicationRequests).toMatchObject([{ cursor: expect.not.stringMatching(/^start$/) }]);
});

test('a hub of an earlier version removes nothing, and is asked again', async () => {
  hub.behave(refuse('not_found'), 'applications');
  hub.publish(aTemplate());
  expect(await sync()).toMatchObject({
    status: 200,
    body: { status: 'fresh', counts: { templates: 1, applications: 0 } },
  });
  hub.recover();
  hub.publishApplications(anApplication({ slug: 'kept' }));
  await sync();
  hub.behave(refuse('not_found'), 'applications');
  hub.publish(aTemplate());
  expect(await sync(true)).toMatchObject({ status: 200, body: { status: 'fresh', counts: { applications: 1 } } });
  hub.recover();
  hub.applicationRequests.splice(0);
  await sync();
  expect(hub.applicationRequests.length).toBeGreaterThan(0);
  expect(await slugs()).toEqual(['kept']);
});

test('a walk that fails continues, and loses nothing', async () => {
  hub.publishApplications(anApplication({ slug: 'a' }), anApplication({ slug: 'b' }), anApplication({ slug: 'c' }));
  hub.setPageSize(1);
  hub.behave(fromCall(2, refuse('internal')), 'applications');
  expect((await sync()).status).toBe(502);
  hub.recover();
  expect(await sync()).toMatchObject({ status: 200, body: { status: 'fresh' } });
  expect(await slugs()).toEqual(['a', 'b', 'c']);
});

test('an application that cannot be read is skipped, keeps its copy, and is read when it can be', async () => {
  const known = anApplication({ slug: 'known' });
  hub.publishApplications(known);
  await sync();
  hub.publishApplications({ ...known, description: 'new' }, anApplication({ slug: 'other' }));
  const unreadable = sendChanged((good) => ({
    ...good,
    applications: good.applications.map((each: { slug: string }) =>
      each.slug === 'known' ? { ...each, parts: 'x' } : each,
    ),
  }));
  hub.behave(unreadable, 'applications');
  const { body } = await sync();
  expect(body.skipped).toEqual({
    total: 1,
    entries: [{ kind: 'application', id: known.id, slug: 'known', reason: 'parts must be an array' }],
  });
  expect(await slugs()).toEqual(['known', 'other']);
  expect((await admin.get(`${APPLICATIONS}/known`)).body).toMatchObject({ description: '', stale: true });
  hub.behave(answerWell, 'applications');
  expect((await sync()).body.skipped).toEqual({ total: 0, entries: [] });
  expect((await admin.get(`${APPLICATIONS}/known`)).body).toMatchObject({ description: 'new', stale: false });
});

test('an empty full walk empties the mirror only when a second one confirms it', async () => {
  hub.publishApplications(anApplication({ slug: 'last' }));
  await sync();
  hub.behave(
    sendChanged((good) => ({ ...good, applications: [], removed: [] })),
    'applications',
  );
  expect((await sync(true)).status).toBe(502);
  expect(await slugs()).toEqual(['last']);
  expect((await sync()).status).toBe(200);
  expect(await slugs()).toEqual([]);
});

test('the list of the mirror has the filters of templates, and finds images of parts', async () => {
  hub.publishApplications(
    anApplication({ slug: 'ghost', name: 'Ghost', tags: ['Blog'], is_featured: true, documentation: '# Ghost' }),
    anApplication({
      slug: 'wiki',
      name: 'Wiki',
      parts: anApplication().parts.map((part) => ({ ...part, image_name: 'team/wiki-image' })),
    }),
  );
  await sync();
  const found = async (query: string) =>
    (await admin.get(`${APPLICATIONS}?${query}`)).body.applications.map(({ slug }: { slug: string }) => slug);
  expect(await found('')).toEqual(['ghost', 'wiki']);
  expect(await found('search=gho')).toEqual(['ghost']);
  expect(await found('tags=blog')).toEqual(['ghost']);
  expect(await found('featured=true')).toEqual(['ghost']);
  expect(await found('category=other')).toEqual([]);
  expect(await found('q=wiki-image')).toEqual(['wiki']);
  const { body } = await admin.get(`${APPLICATIONS}?view=summary&limit=1`);
  expect(body).toMatchObject({
    applications: [{ slug: 'ghost', documentation: '', parts: [] }],
    pagination: { total: 2, totalPages: 2 },
  });
});
