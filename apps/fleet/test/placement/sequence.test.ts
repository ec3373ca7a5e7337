import { byDepth } from '@svc/testing';
import { assertProperty } from '@svc/testing/properties';
import fc from 'fast-check';
import type { Candidate, PlacementRequest } from '../../src/placement/candidates.ts';
import { type ChosenTarget, place } from '../../src/placement/place.ts';
import { candidates, placementRequest } from './generated.ts';

const sums = (candidate: Candidate, { replicas, per_replica }: PlacementRequest) => ({
  cpu_millis: candidate.allocated.cpu_millis + replicas * per_replica.cpu_millis,
  memory_bytes: candidate.allocated.memory_bytes + replicas * per_replica.memory_bytes,
});

/** The candidate with the resources of a placed request allocated. */
function allocate(candidate: Candidate, request: PlacementRequest, { gpus }: ChosenTarget): Candidate {
  const { allocated } = candidate;
  if (candidate.kind === 'host') {
    const ids = [...candidate.allocated.gpus, ...gpus.flat()];
    return { ...candidate, allocated: { ...sums(candidate, request), gpus: ids } };
  }
  const before = 'gpu_count' in allocated ? allocated.gpu_count : 0;
  const gpuCount = before + request.replicas * request.per_replica.gpu_count;
  return { ...candidate, allocated: { ...sums(candidate, request), gpu_count: gpuCount } };
}

const empty = (candidate: Candidate): Candidate =>
  candidate.kind === 'host'
    ? { ...candidate, allocated: { cpu_millis: 0, memory_bytes: 0, gpus: [] } }
    : { ...candidate, allocated: { cpu_millis: 0, memory_bytes: 0, gpu_count: 0 } };

function expectWithinCapacity(candidate: Candidate): void {
  const capacity = candidate.kind === 'host' ? candidate.capacity : candidate.allocatable;
  expect(candidate.allocated.cpu_millis).toBeLessThanOrEqual(capacity?.cpu_millis ?? 0);
  expect(candidate.allocated.memory_bytes).toBeLessThanOrEqual(capacity?.memory_bytes ?? 0);
  if (candidate.kind === 'cluster') {
    expect(candidate.allocated.gpu_count).toBeLessThanOrEqual(candidate.allocatable?.gpu_count ?? 0);
    return;
  }
  const given = candidate.allocated.gpus;
  expect(new Set(given).size).toBe(given.length);
  expect(candidate.gpus.map(({ id }) => id)).toEqual(expect.arrayContaining([...given]));
}

const SEQUENCES = byDepth({ short: 30, full: 300, long: 3000 });

test('a sequence of placements never exceeds the capacity, and assigns no GPU twice', () => {
  let placed = 0;
  assertProperty(
    fc.property(candidates, fc.array(placementRequest, { minLength: 5, maxLength: 25 }), (all, requests) => {
      let candidatesNow = all.map(empty);
      for (const request of requests) {
        const { chosen } = place(request, candidatesNow);
        if (!chosen) continue;
        placed += 1;
        candidatesNow = candidatesNow.map((one) => (one.id === chosen.id ? allocate(one, request, chosen) : one));
        for (const one of candidatesNow) expectWithinCapacity(one);
      }
    }),
    SEQUENCES,
  );
  expect(placed).toBeGreaterThan(SEQUENCES);
});

test('a placement assigns to each replica on a host as many GPUs as it needs, each available and large enough', () => {
  assertProperty(
    fc.property(candidates, placementRequest, (all, request) => {
      const { chosen } = place(request, all);
      const there = all.find(({ id }) => id === chosen?.id);
      if (!chosen || !there) return;
      expect(chosen.gpus).toHaveLength(request.replicas);
      if (there.kind === 'cluster') {
        expect(chosen.gpus.flat()).toEqual([]);
        return;
      }
      for (const ids of chosen.gpus) expect(ids).toHaveLength(request.per_replica.gpu_count);
      for (const id of chosen.gpus.flat()) {
        expect(there.allocated.gpus).not.toContain(id);
        const gpu = there.gpus.find((one) => one.id === id);
        expect(gpu?.vram_bytes).toBeGreaterThanOrEqual(request.per_replica.vram_bytes);
      }
    }),
    byDepth({ short: 100, full: 1000, long: 10_000 }),
  );
});
