import type { RequestedVolume } from '../../src/placement/candidates.ts';
import { place } from '../../src/placement/place.ts';
import { aCluster, against, aHost, aRequest } from './world.ts';

const data = (given: Partial<RequestedVolume>): RequestedVolume => ({
  mount: 'mount',
  name: 'data',
  access_mode: 'ReadWriteOnce',
  ...given,
});

test('a bound volume restricts its deployment to the target of the volume', () => {
  const red = aHost({ name: 'red' });
  const blue = aHost({ name: 'blue' });
  const green = aCluster({ name: 'green' });
  const request = aRequest({ volumes: [data({ boundTo: { kind: 'host', id: red.id } })] });
  const { chosen, assessments: all } = place(request, [blue, green, red]);
  expect(chosen).toMatchObject({ kind: 'host', id: red.id });
  expect(all.slice(1).map(({ name, reasons }) => [name, reasons])).toEqual([
    ['blue', ['volume data is bound to host red']],
    ['green', ['volume data is bound to host red']],
  ]);
});

test('a host and a cluster with the same id are different targets', () => {
  const request = aRequest({ volumes: [data({ boundTo: { kind: 'cluster', id: 'same' } })] });
  expect(against(request, aHost({ id: 'same' }))).toEqual(['volume data is bound to cluster same']);
  expect(against(request, aCluster({ id: 'same' }))).toEqual([]);
});

test('no target fits if the volumes of a deployment are on different targets', () => {
  const red = aHost({ name: 'red' });
  const blue = aHost({ name: 'blue' });
  const volumes = [
    data({ boundTo: { kind: 'host', id: red.id } }),
    data({ name: 'logs', boundTo: { kind: 'host', id: blue.id } }),
  ];
  expect(place(aRequest({ volumes }), [red, blue])).toMatchObject({
    chosen: undefined,
    assessments: [
      { name: 'blue', reasons: ['volume data is bound to host red'] },
      { name: 'red', reasons: ['volume logs is bound to host blue'] },
    ],
  });
});

test('a volume that is not bound yet does not restrict the target', () => {
  expect(against(aRequest({ volumes: [data({})] }), aHost())).toEqual([]);
});

test('a ReadWriteOnce volume can be used by one deployment at a time', () => {
  const taken = (access_mode: RequestedVolume['access_mode']) =>
    aRequest({ volumes: [data({ access_mode, attached_to: 'web' })] });
  const reason = 'volume data is ReadWriteOnce and attached to deployment web';
  expect(against(taken('ReadWriteOnce'), aHost())).toEqual([reason]);
  expect(against(taken('ReadWriteOnce'), aCluster())).toEqual([reason]);
  expect(against(taken('ReadWriteMany'), aHost())).toEqual([]);
  expect(against(taken('ReadOnlyMany'), aHost())).toEqual([]);
});
