import type { Obstacle } from '@svc/contract/fleet';
import { type Target, workloadDefaults } from '@svc/contract/fleet';
import { type Candidate, type PlacementRequest, placementRequirementsOf } from '../../placement/candidates.ts';
import { assessFeasibility, bestCaseOf, bestFirst, type Infeasible, type Scored } from '../../placement/feasibility.ts';
import { compareStrings } from '../../placement/format.ts';
import type { CompiledPart } from './compile.ts';

/** The number of targets on which all parts are decided, and of rejected targets that a plan lists. */
const MAX_TRIED = 5;
const MAX_REJECTED = 20;

/** A target on which not all parts fit. */
export interface Rejected extends Target {
  readonly name: string;
  readonly reason: string;
}

interface Ranked {
  /** The targets on which each part fits, and the sum of their resources, the best one first. */
  readonly fitting: readonly Target[];
  readonly rejected: readonly Rejected[];
  /** Targets whose first check can make them fit. */
  readonly unchecked: readonly Target[];
}

const requestOf = ({ spec, replicas }: CompiledPart): PlacementRequest => ({
  ...placementRequirementsOf({ ...workloadDefaults, ...spec }, replicas),
  volumes: [],
  has_ports: (spec.ports ?? []).length > 0,
  scaling: 'fleet',
});

/** The resources of all parts as one replica. Where the parts may run is examined for each of them. */
function sumOf(requests: readonly PlacementRequest[]): PlacementRequest {
  const total = (amount: 'cpu_millis' | 'memory_bytes' | 'gpu_count') =>
    requests.reduce((sum, { per_replica, replicas }) => sum + per_replica[amount] * replicas, 0);
  return {
    replicas: 1,
    per_replica: {
      cpu_millis: total('cpu_millis'),
      memory_bytes: total('memory_bytes'),
      gpu_count: total('gpu_count'),
      vram_bytes: 0,
    },
    required_network_types: [],
    node_selector: {},
    tolerations: [],
    volumes: [],
    has_ports: false,
    scaling: 'fleet',
  };
}

/** Ranks the targets for parts that run on the same one. */
export function rankTargets(candidates: readonly Candidate[], parts: readonly CompiledPart[]): Ranked {
  const requests = parts.map((part) => ({ name: part.name, request: requestOf(part) }));
  const sum = sumOf(requests.map(({ request }) => request));
  const names = new Map(candidates.map(({ id, name }) => [id, name]));
  const fitting: { readonly scored: Scored; readonly target: Target }[] = [];
  const rejected: Rejected[] = [];
  const unchecked: Target[] = [];
  for (const candidate of candidates) {
    const { kind, id, name } = candidate;
    const against = requests.flatMap(({ name: part, request }) => {
      const result = assessFeasibility(request, candidate, (target) => names.get(target.id) ?? target.id);
      return result.fits ? [] : [{ part, result }];
    });
    const atBest = bestCaseOf(sum, candidate);
    if (against.length === 0 && atBest) {
      fitting.push({ scored: atBest, target: { kind, id } });
      continue;
    }
    if (against.length > 0 && against.every(({ result }) => result.isUnchecked)) unchecked.push({ kind, id });
    rejected.push({ kind, id, name, reason: reasonOf(against, parts, () => obstaclesOf(sum, candidate)) });
  }
  return {
    fitting: fitting
      .toSorted((one, other) => bestFirst(one.scored, other.scored))
      .slice(0, MAX_TRIED)
      .map(({ target }) => target),
    rejected: rejected.toSorted((one, other) => compareStrings(one.name, other.name)).slice(0, MAX_REJECTED),
    unchecked,
  };
}

function obstaclesOf(request: PlacementRequest, candidate: Candidate): readonly Obstacle[] {
  const result = assessFeasibility(request, candidate, ({ id }) => id);
  return result.fits ? [] : result.obstacles;
}

/** Why not all parts fit: what fits, and the reasons against the others. */
function reasonOf(
  against: readonly { readonly part: string; readonly result: Infeasible }[],
  parts: readonly CompiledPart[],
  together: () => readonly Obstacle[],
): string {
  const messagesOf = (obstacles: readonly Obstacle[]) => obstacles.map(({ message }) => message).join('; ');
  if (against.length === 0) return `each part fits alone, but all together ${messagesOf(together()) || 'do not'}`;
  const reasons = [...new Set(against.map(({ result }) => messagesOf(result.obstacles)))];
  const [first] = reasons;
  if (against.length === parts.length && reasons.length === 1 && first !== undefined) return first;
  const rejected = against.map(({ part }) => part);
  const fits = parts.flatMap(({ name }) => (rejected.includes(name) ? [] : [name]));
  const fit = fits.length === 0 ? '' : `${listed(fits)} ${fits.length === 1 ? 'fits' : 'fit'}, `;
  return `${fit}${against.map(({ part, result }) => `${part} ${messagesOf(result.obstacles)}`).join(', ')}`;
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
