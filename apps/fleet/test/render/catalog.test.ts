import { renderDocker } from '../../src/render/docker.ts';
import { renderKubernetes } from '../../src/render/kubernetes.ts';
import { starterCatalog } from './catalog.ts';
import { dockerManifest } from './docker-schemas.ts';
import { assertValid } from './kubernetes-schemas.ts';
import { aCluster, aHost, aRendering } from './renderings.ts';

test('the starter catalog can be read', () => {
  expect(starterCatalog.length).toBeGreaterThan(40);
});

test.each(starterCatalog)('template %s is rendered for a cluster', (_, spec) => {
  const { objects } = renderKubernetes(aRendering(spec), aCluster());
  expect(objects.length).toBeGreaterThan(0);
  for (const object of objects) assertValid(object);
});

test.each(starterCatalog)('template %s is rendered for a host', (_, spec) => {
  const rendering = aRendering(spec, { replicas: 2 });
  for (const engine of ['docker', 'podman'] as const) {
    const manifest = dockerManifest.parse(renderDocker(rendering, aHost(rendering, engine)));
    expect(manifest.containers.map(({ ordinal }) => ordinal)).toEqual([0, 1]);
  }
});
