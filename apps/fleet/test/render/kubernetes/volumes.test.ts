import { renderKubernetes } from '../../../src/render/kubernetes.ts';
import { aCluster, aRendering, aSpec, aVolume } from '../renderings.ts';
import { containerOf, deploymentOf, ofKind, render, volume } from './helpers.ts';

test('a volume with ReadWriteMany does not block a rolling update', () => {
  const volumes = [aVolume({ access_mode: 'ReadWriteMany' })];
  expect(deploymentOf(render(volume, { volumes })).strategy?.type).toBe('RollingUpdate');
});

test('a volume with ReadOnlyMany is mounted read-only', () => {
  const objects = render(volume, { volumes: [aVolume({ access_mode: 'ReadOnlyMany' })] });
  expect(containerOf(objects)?.volumeMounts).toMatchObject([{ mountPath: '/data', readOnly: true }]);
});

test('the claim of a volume does not refer to the deployment, since others may share the volume', () => {
  const one = ofKind(render(volume, { volumes: [aVolume()] }), 'PersistentVolumeClaim');
  const other = ofKind(
    render(
      { volume_mounts: [{ name: 'cache', mountPath: '/cache' }] },
      { id: '019a0000-0000-7000-8000-00000000beef', name: 'other', volumes: [aVolume({ mount: 'cache' })] },
    ),
    'PersistentVolumeClaim',
  );
  expect(other).toEqual(one);
});

test('a volume in two mounts has one claim', () => {
  const mounts = ['data', 'cache'];
  const objects = render(
    { volume_mounts: mounts.map((name) => ({ name, mountPath: `/${name}` })) },
    { volumes: mounts.map((mount) => aVolume({ mount })) },
  );
  expect(ofKind(objects, 'PersistentVolumeClaim')).toHaveLength(1);
  expect(deploymentOf(objects).template.spec?.volumes).toHaveLength(1);
  expect(containerOf(objects)?.volumeMounts?.map(({ mountPath }) => mountPath)).toEqual(['/data', '/cache']);
});

test.each<[string, string | null, string | null, string | undefined]>([
  ['that of the volume', 'fast', 'standard', 'fast'],
  ['the default that the fleet has for the cluster', null, 'standard', 'standard'],
  ['omitted, so that the default of the cluster applies', null, null, undefined],
  ['omitted if it is empty', '', null, undefined],
])('the storage class of a claim is %s', (_, own, ofCluster, expected) => {
  const rendering = aRendering(aSpec(volume), { volumes: [aVolume({ storage_class: own })] });
  const { objects } = renderKubernetes(rendering, aCluster({ default_storage_class: ofCluster }));
  expect(ofKind(objects, 'PersistentVolumeClaim')[0]?.spec?.storageClassName).toBe(expected);
});
