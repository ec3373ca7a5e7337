import { place } from '../../src/placement/place.ts';
import type { WishedVolume } from '../../src/placement/requirements.ts';
import { aCluster, against, aHost, aWish, judged } from './world.ts';

const data = (given: Partial<WishedVolume>): WishedVolume => ({ name: 'data', access_mode: 'ReadWriteOnce', ...given });

test('a volume pins its deployment to the place where it lives', () => {
  const [red, blue, green] = [aHost({ name: 'red' }), aHost({ name: 'blue' }), aCluster({ name: 'green' })];
  const wish = aWish({ volumes: [data({ boundTo: { kind: 'host', id: red.id } })] });
  const { chosen, judged: all } = place(wish, [blue, green, red]);
  expect(chosen).toMatchObject({ kind: 'host', id: red.id });
  expect(all.slice(1).map(({ name, reasons }) => [name, reasons])).toEqual([
    ['blue', ['volume data lives on host red']],
    ['green', ['volume data lives on host red']],
  ]);
});

test('a host and a cluster with one id are two places', () => {
  const wish = aWish({ volumes: [data({ boundTo: { kind: 'cluster', id: 'same' } })] });
  expect(against(wish, aHost({ id: 'same' }))).toEqual(['volume data lives on cluster same']);
  expect(against(wish, aCluster({ id: 'same' }))).toEqual([]);
});

test('volumes that live apart leave no place', () => {
  const [red, blue] = [aHost({ name: 'red' }), aHost({ name: 'blue' })];
  const volumes = [
    data({ boundTo: { kind: 'host', id: red.id } }),
    data({ name: 'logs', boundTo: { kind: 'host', id: blue.id } }),
  ];
  expect(place(aWish({ volumes }), [red, blue])).toMatchObject({
    chosen: undefined,
    judged: [
      { name: 'blue', reasons: ['volume data lives on host red'] },
      { name: 'red', reasons: ['volume logs lives on host blue'] },
    ],
  });
});

test('a volume that lives nowhere yet pins nothing', () => {
  expect(against(aWish({ volumes: [data({})] }), aHost())).toEqual([]);
});

test('a ReadWriteOnce volume belongs to one deployment at a time', () => {
  const taken = (access_mode: WishedVolume['access_mode']) =>
    aWish({ volumes: [data({ access_mode, attached_to: 'web' })] });
  const reason = 'volume data is ReadWriteOnce and attached to deployment web';
  expect(against(taken('ReadWriteOnce'), aHost())).toEqual([reason]);
  expect(against(taken('ReadWriteOnce'), aCluster())).toEqual([reason]);
  expect(against(taken('ReadWriteMany'), aHost())).toEqual([]);
  expect(against(taken('ReadOnlyMany'), aHost())).toEqual([]);
});

test('replicas that share a ReadWriteOnce volume on a cluster are told that they need one node', () => {
  const note = 'volume data is ReadWriteOnce: its 2 replicas must share one node';
  const wish = aWish({ replicas: 2, volumes: [data({})] });
  expect(judged(wish, aCluster())).toMatchObject({ fits: true });
  expect(judged(wish, aCluster()).reasons).toContain(note);
  expect(judged(wish, aHost()).reasons).not.toContain(note);
  expect(judged({ ...wish, replicas: 1 }, aCluster()).reasons.join()).not.toContain('ReadWriteOnce');
});
