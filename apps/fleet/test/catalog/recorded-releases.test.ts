// The current fleet with the recorded responses of the hubs of earlier releases (infra/releases).
import { template } from '@svc/contract';
import { aTemplate } from '../a-template.ts';
import { anApplication } from '../an-application.ts';
import { recordedReleases, startRecordedHub, templatesAfter } from '../fake-hub/recorded.ts';
import { startFakeHub } from '../fake-hub.ts';
import { aSigner } from '../trust/signed.ts';
import { startWorld } from '../world.ts';
import { mirrorIn } from './mirror.ts';

test('the traffic of a release is recorded', () => {
  expect(recordedReleases).not.toEqual([]);
});

test.each(recordedReleases)('the fleet syncs with the hub of release %s, page by page', async (release) => {
  const hub = await startRecordedHub(release);
  const world = await startWorld({ hub });
  const { client } = world.database;
  const mirror = mirrorIn((sql) => client.$queryRawUnsafe(sql));
  try {
    expect(hub.pages.length).toBeGreaterThan(1);
    for (const [index, page] of hub.pages.entries()) {
      const { status, body } = await world.asOperator.post('/api/v1/catalog/sync');
      expect({ index, status, body }).toMatchObject({
        status: 200,
        body: {
          status: 'fresh',
          checked_at: page.checked_at,
          skipped: { total: 0 },
          last_sync: { full: page.reset, updated: page.templates.length, removed: page.removed.length },
        },
      });
      // The mirror adds the members that a later release has.
      const received = templatesAfter(hub.pages.slice(0, index + 1));
      expect(await mirror.templates()).toEqual(received.map((document) => template.parse(document)));
    }
    expect(await mirror.categories()).toEqual([...hub.categories].sort((a, b) => (a.id < b.id ? -1 : 1)));
    for (const { slug } of templatesAfter(hub.pages)) {
      const { status, body } = await world.asAdmin.post('/api/v1/workloads', { name: slug, template: slug });
      expect({ slug, status, body }).toMatchObject({ status: 201, body: { workload: { template_state: 'current' } } });
    }
    // The release knows no signatures and no publishers.
    const root = (await aSigner()).key;
    await world.asAdmin.post('/api/v1/settings/publishers', { slug: 'acme', name: 'Acme', root, images: ['*'] });
    await world.asAdmin.put('/api/v1/settings/trust', { mode: 'require' });
    const plan = await world.asAdmin.post('/api/v1/settings/trust/plan', { mode: 'require' });
    const { length } = templatesAfter(hub.pages);
    expect(plan.body).toMatchObject({
      templates: { total: length, refused: length },
      reasons: [{ reason: 'unsigned', templates: length }],
    });
  } finally {
    await world.stop();
    await hub.stop();
  }
});

test.each(recordedReleases)(
  'a fleet with applications keeps them while its hub is of release %s, which has none, and then continues',
  async (release) => {
    const [old, current] = [await startRecordedHub(release), await startFakeHub()];
    const world = await startWorld();
    const { asAdmin: admin, database } = world;
    const useHub = ({ url, key }: { readonly url: string; readonly key: string }) =>
      admin.put('/api/v1/settings/hub', { url, api_key: key });
    // The recorded hub does not know the cursors of another one.
    const sync = async (full = false) => {
      const { status, body } = await admin.post('/api/v1/catalog/sync', { full });
      expect({ status, detail: body.detail }).toEqual({ status: 200, detail: undefined });
      return body.counts;
    };
    const slugs = async () =>
      (await admin.get('/api/v1/catalog/applications')).body.applications.map(({ slug }: { slug: string }) => slug);
    try {
      const [kept, withdrawn] = [anApplication({ slug: 'kept' }), anApplication({ slug: 'withdrawn' })];
      current.publish(aTemplate());
      current.publishApplications(kept, withdrawn);
      await useHub(current);
      await sync();
      await useHub(old);
      for (const [index] of old.pages.entries()) {
        const { length: templates } = templatesAfter(old.pages.slice(0, index + 1));
        expect(await sync(index === 0)).toMatchObject({ templates, applications: 2 });
      }
      expect(await slugs()).toEqual(['kept', 'withdrawn']);
      expect((await admin.get('/api/v1/catalog/applications/kept')).body).toMatchObject({ name: kept.name });
      expect(await database.client.catalogCursor.findMany({ where: { kind: 'application' } })).toMatchObject([
        { supported: false },
      ]);
      current.withdrawApplications(withdrawn);
      await useHub(current);
      await sync(true);
      expect(await slugs()).toEqual(['kept']);
    } finally {
      await world.stop();
      await old.stop();
      await current.stop();
    }
  },
);
