import type { Taint, Toleration } from '../../src/placement/candidates.ts';
import { tolerates } from '../../src/placement/nodes.ts';
import { against, aHost, aRequest, assess } from './world.ts';

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
])('the toleration %j tolerates the taint gpu=true:NoSchedule: %p', (toleration, expected) => {
  expect(tolerates(toleration, taint)).toBe(expected);
});

test('a taint without a value is tolerated by the operator Equal without a value', () => {
  const bare: Taint = { key: 'gpu', effect: 'NoExecute' };
  expect(tolerates({ key: 'gpu' }, bare)).toBe(true);
  expect(tolerates({ key: 'gpu', value: 'true' }, bare)).toBe(false);
  expect(tolerates({ key: 'gpu', operator: 'Exists', tolerationSeconds: 60, effect: 'NoExecute' }, bare)).toBe(true);
});

test('each untolerated taint excludes a host, except with the effect PreferNoSchedule', () => {
  const host = aHost({
    taints: [
      taint,
      { key: 'team', value: 'red', effect: 'NoExecute' },
      { key: 'old', effect: 'NoSchedule' },
      { key: 'slow', effect: 'PreferNoSchedule' },
    ],
  });
  expect(against(aRequest(), host)).toEqual([
    'taint gpu=true:NoSchedule is not tolerated',
    'taint team=red:NoExecute is not tolerated',
    'taint old:NoSchedule is not tolerated',
  ]);
  expect(assess(aRequest({ tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }] }), host).reasons).toEqual([
    'taint team=red:NoExecute is not tolerated',
  ]);
});

test('a host with an untolerated PreferNoSchedule taint is chosen if no other fits, with a reason', () => {
  const host = aHost({ taints: [{ key: 'slow', effect: 'PreferNoSchedule' }] });
  expect(assess(aRequest(), host)).toMatchObject({
    fits: true,
    score: { avoided_taints: 1 },
    reasons: [
      'fits: leaves 8 of 8 CPUs, 16 of 16 GiB of memory free',
      'taint slow:PreferNoSchedule is not tolerated: avoided if another target fits',
      'chosen: nothing else fits',
    ],
  });
  expect(assess(aRequest({ tolerations: [{ key: 'slow' }] }), host)).toMatchObject({ score: { avoided_taints: 0 } });
});

test('a host fits only if it has every label of the node selector with its value', () => {
  const request = aRequest({ node_selector: { zone: 'eu', disk: 'ssd', arch: '' } });
  expect(against(request, aHost({ labels: { zone: 'us', arch: '' } }))).toEqual([
    'label zone is "us"; the node selector requires "eu"',
    'has no label disk; the node selector requires "ssd"',
  ]);
  expect(against(request, aHost({ labels: { zone: 'eu', disk: 'ssd', arch: '', more: 'x' } }))).toEqual([]);
});

test('inherited properties such as constructor are not labels of a host', () => {
  expect(against(aRequest({ node_selector: { constructor: 'x' } }), aHost())).toEqual([
    'has no label constructor; the node selector requires "x"',
  ]);
});

test('an unschedulable host does not fit, regardless of tolerations', () => {
  expect(against(aRequest({ tolerations: [{ operator: 'Exists' }] }), aHost({ schedulable: false }))).toEqual([
    'does not accept new deployments (schedulable is false)',
  ]);
});
