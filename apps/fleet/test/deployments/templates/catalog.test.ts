import type { Template } from '@svc/contract';
import { inTurn } from '@svc/testing';
import { containerBody, volumeBody } from '../../render/docker/schemas.ts';
import { assertValid } from '../../render/kubernetes/schemas.ts';
import { startDeploymentWorld } from '../world.ts';
import { requiredOf, secretsOf, starterTemplates } from './catalog.ts';

const fleet = await startDeploymentWorld({ kept: true });

const roomy = { cpus: 256, gib: 2048, network_types: ['public', 'mesh'] };
const gpus = Array.from({ length: 16 }, (_, index) => ({ id: `${index}`, model: 'any', vram: '96Gi' }));

let targets: { cluster: object; docker: object; podman: object };
beforeAll(async () => {
  fleet.hub.changeOrganization({ tier: 'enterprise' });
  await fleet.publish(...starterTemplates);
  for (const [name, values] of Object.entries(secretsOf(starterTemplates))) await fleet.aSecret(name, values);
  const host = (engine: 'docker' | 'podman') =>
    fleet.aHost({ ...roomy, engine, arch: 'x86_64', labels: { 'nvidia.com/gpu.present': 'true' }, gpus });
  targets = {
    cluster: { cluster_id: (await fleet.aCluster({ ...roomy, gpu_count: 64 })).id },
    docker: { host_id: (await host('docker')).id },
    podman: { host_id: (await host('podman')).id },
  };
});

afterEach(async () => {
  await fleet.client.deployment.deleteMany();
  await fleet.client.workload.deleteMany();
});

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/**
 * A manifest without the parts that differ between two deployments: ids, also as a part of a name,
 * and the digest of a body.
 */
function withoutIds(manifest: readonly object[]): unknown {
  const text = JSON.stringify(manifest).replaceAll(/("fleet\/body":)"[0-9a-f]{32}"/g, '$1"DIGEST"');
  const ids = [...new Set(text.match(UUID))];
  return JSON.parse(ids.reduce((rest, id) => rest.replaceAll(id, 'ID').replaceAll(id.slice(-8), 'PART'), text));
}

/**
 * Plans and deploys a template. @returns the manifest of the deployment, which equals the planned
 * one
 */
async function deployAsPlanned({ slug, ...template }: Template, target: object) {
  const requestBody = { name: `the-${slug}`, template: slug, target, env: requiredOf({ slug, ...template }) };
  const { status, body: plan } = await fleet.plan(requestBody);
  expect({ status, ok: plan.ok, refusals: plan.refusals }).toEqual({ status: 200, ok: true, refusals: [] });
  const { status: made, body } = await fleet.deploy(requestBody);
  expect({ made, body }).toMatchObject({ made: 201, body: { deployment: { template_slug: slug } } });
  const manifest = await fleet.manifest(body.deployment.id);
  expect(withoutIds(manifest)).toEqual(withoutIds(plan.manifest));
  expect(plan.placement.target).toEqual(body.deployment.target);
  return manifest;
}

test('the starter catalog has more than 40 templates', () => {
  expect(starterTemplates.length).toBeGreaterThan(40);
});

/** Every template on every target. At depth `short` the targets alternate. */
const cases = starterTemplates.flatMap((template, index) =>
  inTurn(['cluster', 'docker', 'podman'] as const, { index, of: starterTemplates.length }).map((target) => ({
    slug: template.slug,
    template,
    target,
  })),
);
const onCluster = cases.filter(({ target }) => target === 'cluster');
const onHosts = cases.filter(({ target }) => target !== 'cluster');

test.each(onCluster)('the template $slug is deployed on a cluster as planned', async ({ template }) => {
  const manifest = await deployAsPlanned(template, targets.cluster);
  expect(manifest.map(({ kind }: { kind: string }) => kind)).toContain(template.kind === 'job' ? 'Job' : 'Deployment');
  for (const object of manifest) assertValid(object);
});

test.each(onHosts)('the template $slug is deployed on a host with $target as planned', async ({ template, target }) => {
  const manifest = await deployAsPlanned(template, targets[target]);
  const bodies = (kind: string) =>
    manifest.filter((object: { kind: string }) => object.kind === kind).map(({ body }: { body: object }) => body);
  expect(bodies('Container')).toHaveLength(1);
  expect(bodies('Volume')).toHaveLength(template.volume_mounts.length);
  for (const body of bodies('Container')) {
    containerBody.parse(body);
  }
  for (const body of bodies('Volume')) volumeBody.parse(body);
});
