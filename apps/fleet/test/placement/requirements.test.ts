import { placementRequirementsOf, requirementsOf } from '../../src/placement/candidates.ts';
import { aSpec, GiB } from './world.ts';

test('the requirements of a replica are those of its workload', () => {
  const spec = aSpec({ cpu_request: '1500m', memory_request: '2Gi', gpu_count: 2, vram_request: '24Gi' });
  expect(requirementsOf(spec)).toEqual({
    cpu_millis: 1500,
    memory_bytes: 2 * GiB,
    gpu_count: 2,
    vram_bytes: 24 * GiB,
  });
});

test('a workload without resource requests has no requirements', () => {
  expect(requirementsOf(aSpec())).toEqual({ cpu_millis: 0, memory_bytes: 0, gpu_count: 0, vram_bytes: 0 });
});

test('GPU memory without a number of GPUs requires one GPU', () => {
  expect(requirementsOf(aSpec({ vram_request: '16Gi' }))).toMatchObject({ gpu_count: 1, vram_bytes: 16 * GiB });
  expect(requirementsOf(aSpec({ vram_request: '0' }))).toMatchObject({ gpu_count: 0, vram_bytes: 0 });
});

test('the placement requirements contain the scheduling constraints of the workload', () => {
  const where = {
    required_network_types: ['mesh'],
    node_selector: { zone: 'eu' },
    tolerations: [{ key: 'gpu', operator: 'Exists' as const }],
  };
  expect(placementRequirementsOf(aSpec({ ...where, cpu_request: '1' }), 3)).toEqual({
    ...where,
    replicas: 3,
    per_replica: { cpu_millis: 1000, memory_bytes: 0, gpu_count: 0, vram_bytes: 0 },
  });
});
