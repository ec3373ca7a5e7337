import { expect, test } from '@jest/globals';
import { aTemplate } from '../../a-template.ts';
import { startDeploymentWorld } from '../../deployments/world.ts';

const fleet = await startDeploymentWorld();
const digest = `sha256:${'ab'.repeat(32)}`;
const other = `sha256:${'cd'.repeat(32)}`;
const image = { image_name: 'team/app', image_tag: '1', registry_url: null };

const changed = async (id: string, body: object) =>
  (await fleet.operator.put(`/api/v1/workloads/${id}`, body)).body.workload;

test.each([
  ['image_tag', '2'],
  ['image_name', 'team/other'],
  ['registry_url', 'ghcr.io'],
])('an override of %s without a digest removes that of the template', async (member, value) => {
  await fleet.publish(aTemplate({ slug: 'app', ...image, image_digest: digest }));
  const copy = await fleet.aWorkload({ template: 'app', image_name: undefined, cpu_request: undefined });
  expect(copy.image_digest).toBe(digest);
  expect(await changed(copy.id, { ...copy, cpu_request: '2' })).toMatchObject({ image_digest: digest, revision: 2 });
  expect(await changed(copy.id, { [member]: value })).toMatchObject({ [member]: value, image_digest: null });
  const overridden = await fleet.aWorkload({ template: 'app', image_name: undefined, [member]: value });
  expect(overridden).toMatchObject({ [member]: value, image_digest: null });
});

test('a digest that an override states is kept, and the next override removes it', async () => {
  await fleet.publish(aTemplate({ slug: 'app', ...image, image_digest: digest }));
  const { id } = await fleet.aWorkload({ template: 'app', image_name: undefined });
  expect(await changed(id, { image_tag: '2', image_digest: digest })).toMatchObject({ image_digest: digest });
  expect(await changed(id, { image_digest: other })).toMatchObject({ image_tag: '2', image_digest: other });
  expect(await changed(id, { image_tag: '3' })).toMatchObject({ image_tag: '3', image_digest: null });
});

test('an update from a template does not combine its digest with an overridden tag', async () => {
  await fleet.publish(aTemplate({ slug: 'app', ...image }));
  const { id } = await fleet.aWorkload({ template: 'app', image_name: undefined, image_tag: '2' });
  // As an earlier version stores it.
  await fleet.client.$executeRaw`
    INSERT INTO workload_revisions (workload_id, revision, spec, overrides, template_id, template_slug, template_version, template_hash,
      min_tier, secret_names, created_by)
    SELECT workload_id, 2, spec - 'image_digest', overrides - 'image_digest', template_id, template_slug, template_version, template_hash,
      min_tier, secret_names, created_by
    FROM workload_revisions WHERE workload_id = ${id}::uuid`;
  await fleet.client.workload.update({ where: { id }, data: { revision: 2 } });
  await fleet.publish(aTemplate({ slug: 'app', ...image, image_digest: digest, updated_at: new Date().toISOString() }));
  expect(await changed(id, { template: 'app' })).toMatchObject({ image_tag: '2', image_digest: null });
});
