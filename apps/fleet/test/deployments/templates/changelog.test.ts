import { MAX_CHANGES_LISTED } from '@svc/contract/fleet';
import { startDeploymentWorld } from '../world.ts';
import { aPlainTemplate, withTemplate } from './advised.ts';

const fleet = await startDeploymentWorld();
const { client, hub, viewer } = fleet;
const { template, publish, withdraw, reset, deployed } = withTemplate(fleet, aPlainTemplate());

beforeEach(async () => {
  reset();
  hub.recover();
  await client.catalogChangelog.deleteMany();
  await fleet.aHost();
  await publish();
});

const aChange = (revision: number, given: object = {}) => ({
  revision,
  version: `1.${revision}.0`,
  at: `2026-11-0${revision}T00:00:00.000Z`,
  message: `Change ${revision}`,
  changed: ['image_tag'],
  ...given,
});

/** What a plan to update a deployment to the present template states. */
const changelogFor = async (id: string) => {
  const body = { deployment_id: id, upgrade: true };
  return (await viewer.post('/api/v1/deployments/plan', body)).body.changelog;
};

const asked = () => hub.requests.filter(({ call }) => call === undefined).length;

test('the plan of an update states what the publisher says about the changes since the copy that runs', async () => {
  const { id } = await deployed();
  hub.setChangelog('tool', aChange(4), aChange(3), aChange(2), aChange(1));
  await publish({ revision: 3, image_tag: '3' });
  // The hub already has a fourth revision, which the mirror does not have.
  expect(await changelogFor(id)).toEqual({ entries: [aChange(3), aChange(2)], complete: true });
  const before = asked();
  await fleet.sync();
  expect(asked()).toBe(before); // the changelog of this revision is known
  hub.stopListening();
  try {
    expect(await changelogFor(id)).toMatchObject({ entries: [{ revision: 3 }, { revision: 2 }] });
  } finally {
    await hub.startListening();
  }
});

test('a plan states whether there can be earlier changes, and of a copy of an unknown revision only the last one', async () => {
  const { id } = await deployed();
  hub.setChangelog('tool', aChange(3), aChange(2));
  await publish({ revision: 3, image_tag: '3' });
  expect(await changelogFor(id)).toEqual({ entries: [aChange(3), aChange(2)], complete: false });
  await publish({ revision: null });
  const unknown = await deployed({ name: 'unknown' });
  await publish({ revision: 4, image_tag: '4' });
  hub.setChangelog('tool', aChange(4), aChange(3));
  await client.catalogChangelog.deleteMany();
  await fleet.sync();
  expect(await changelogFor(unknown.id)).toEqual({ entries: [aChange(4)], complete: false });
});

test('a hub without changelogs is asked once for each revision, and a failing one again with the next sync', async () => {
  const { id } = await deployed();
  const first = asked();
  await publish({ revision: 2, image_tag: '2' });
  await fleet.sync();
  expect(asked()).toBe(first + 1);
  expect(await changelogFor(id)).toBeNull();
  await client.catalogChangelog.deleteMany();
  hub.setChangelog('tool', { not: 'an entry' }, aChange(2, { message: '\0' }), aChange(2), aChange(1));
  await fleet.sync();
  expect(await changelogFor(id)).toEqual({ entries: [aChange(2)], complete: true });
});

test('of a changelog, as many entries of a limited size are stored as plans state, and none of a template that left the mirror', async () => {
  const { id } = await deployed();
  const many = Array.from({ length: 50 }, (_, index) =>
    aChange(1, { revision: 60 - index, message: 'x'.repeat(5000) }),
  );
  hub.setChangelog('tool', ...many);
  await publish({ revision: 60, image_tag: '60' });
  const { entries, complete } = await changelogFor(id);
  expect(entries).toHaveLength(MAX_CHANGES_LISTED);
  expect(entries[0].message).toHaveLength(1000);
  expect(complete).toBe(false);
  await withdraw();
  expect(await client.catalogChangelog.count({ where: { template_id: template.id } })).toBe(0);
});
