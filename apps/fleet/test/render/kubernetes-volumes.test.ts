import { renderKubernetes } from '../../src/render/kubernetes.ts';
import { containerOf, deploymentOf, ofKind, render, volume } from './kubernetes-words.ts';
import { aCluster, aRendering, aSpec, aVolume } from './renderings.ts';

test('a volume that many may write does not hold up a new version', () => {
  const volumes = [aVolume({ access_mode: 'ReadWriteMany' })];
  expect(deploymentOf(render(volume, { volumes })).strategy?.type).toBe('RollingUpdate');
});

test('a volume that many may only read is mounted to be read', () => {
  const objects = render(volume, { volumes: [aVolume({ access_mode: 'ReadOnlyMany' })] });
  expect(containerOf(objects)?.volumeMounts).toMatchObject([{ mountPath: '/data', readOnly: true }]);
});

test('a volume’s claim says nothing of the deployment, which another may share it with', () => {
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

test('a volume that is bound to two mounts is claimed once', () => {
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
  ['its own', 'fast', 'standard', 'fast'],
  ['the one that is set for the cluster', null, 'standard', 'standard'],
  ['that of the cluster itself, which is not named', null, null, undefined],
  ['none named where it is said as nothing', '', null, undefined],
])('the storage class of a claim is %s', (_, own, ofCluster, expected) => {
  const rendering = aRendering(aSpec(volume), { volumes: [aVolume({ storage_class: own })] });
  const { objects } = renderKubernetes(rendering, aCluster({ default_storage_class: ofCluster }));
  expect(ofKind(objects, 'PersistentVolumeClaim')[0]?.spec?.storageClassName).toBe(expected);
});
