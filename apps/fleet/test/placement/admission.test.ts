import type { Taint } from '../../src/placement/candidates.ts';
import { tolerates } from '../../src/placement/nodes.ts';
import type { Toleration } from '../../src/placement/requirements.ts';
import { against, aHost, aWish, judged } from './world.ts';

const taint: Taint = { key: 'gpu', value: 'true', effect: 'NoSchedule' };

test.each<[Toleration, boolean]>([
  [{ key: 'gpu', operator: 'Equal', value: 'true', effect: 'NoSchedule' }, true],
  [{ key: 'gpu', value: 'true' }, true],
  [{ key: 'gpu', value: 'false' }, false],
  [{ key: 'gpu' }, false],
  [{ key: 'cpu', value: 'true' }, false],
  [{ key: 'gpu', operator: 'Exists' }, true],
  [{ key: 'cpu', operator: 'Exists' }, false],
  [{ operator: 'Exists' }, true],
  [{ operator: 'Exists', effect: 'NoSchedule' }, true],
  [{ operator: 'Exists', effect: 'NoExecute' }, false],
  [{ key: 'gpu', operator: 'Exists', effect: 'PreferNoSchedule' }, false],
  [{ operator: 'Equal', value: 'true' }, false],
  [{}, false],
])('%j tolerates gpu=true:NoSchedule: %p', (toleration, expected) => {
  expect(tolerates(toleration, taint)).toBe(expected);
});

test('a taint without a value is tolerated by an equal toleration without one', () => {
  const bare: Taint = { key: 'gpu', effect: 'NoExecute' };
  expect(tolerates({ key: 'gpu' }, bare)).toBe(true);
  expect(tolerates({ key: 'gpu', value: 'true' }, bare)).toBe(false);
  expect(tolerates({ key: 'gpu', operator: 'Exists', tolerationSeconds: 60, effect: 'NoExecute' }, bare)).toBe(true);
});

test('each taint that is not tolerated refuses, but one that only asks to stay away', () => {
  const host = aHost({
    taints: [
      taint,
      { key: 'team', value: 'red', effect: 'NoExecute' },
      { key: 'old', effect: 'NoSchedule' },
      { key: 'slow', effect: 'PreferNoSchedule' },
    ],
  });
  expect(against(aWish(), host)).toEqual([
    'taint gpu=true:NoSchedule is not tolerated',
    'taint team=red:NoExecute is not tolerated',
    'taint old:NoSchedule is not tolerated',
  ]);
  expect(judged(aWish({ tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }] }), host).reasons).toEqual([
    'taint team=red:NoExecute is not tolerated',
  ]);
});

test('a host with a taint that asks to stay away is taken when there is no other, and says so', () => {
  const host = aHost({ taints: [{ key: 'slow', effect: 'PreferNoSchedule' }] });
  expect(judged(aWish(), host)).toMatchObject({
    fits: true,
    score: { avoided_taints: 1 },
    reasons: [
      'fits: leaves 8 of 8 CPUs, 16 of 16 GiB of memory free',
      'taint slow:PreferNoSchedule is not tolerated: avoided where there is another place',
      'chosen: nothing else fits',
    ],
  });
  expect(judged(aWish({ tolerations: [{ key: 'slow' }] }), host)).toMatchObject({ score: { avoided_taints: 0 } });
});

test('every label of the node selector must be there with its value', () => {
  const wish = aWish({ node_selector: { zone: 'eu', disk: 'ssd', arch: '' } });
  expect(against(wish, aHost({ labels: { zone: 'us', arch: '' } }))).toEqual([
    'label zone is "us", "eu" is asked for',
    'has no label disk, "ssd" is asked for',
  ]);
  expect(against(wish, aHost({ labels: { zone: 'eu', disk: 'ssd', arch: '', more: 'x' } }))).toEqual([]);
});

test('a label named like a member of every object is no label of a host', () => {
  expect(against(aWish({ node_selector: { constructor: 'x' } }), aHost())).toEqual([
    'has no label constructor, "x" is asked for',
  ]);
});

test('a closed host takes nothing, whatever is tolerated', () => {
  expect(against(aWish({ tolerations: [{ operator: 'Exists' }] }), aHost({ schedulable: false }))).toEqual([
    'is closed to new deployments (schedulable is false)',
  ]);
});
