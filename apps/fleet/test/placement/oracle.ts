import type {
  Candidate,
  ClusterCandidate,
  ClusterNode,
  HostCandidate,
  Machine,
  PlacementRequest,
} from '../../src/placement/candidates.ts';

/**
 * A second, simple implementation of the rules: the facts against a candidate. It places the
 * replicas one by one, and the tested code calculates sums.
 */
export function factsAgainst(request: PlacementRequest, candidate: Candidate): Set<string> {
  const facts = new Set<string>();
  if (candidate.reachability === 'unknown') facts.add('never checked');
  if (candidate.reachability === 'unreachable') facts.add('unreachable');
  for (const type of request.required_network_types) {
    if (!new Set(candidate.network_types).has(type)) facts.add(`no network ${type}`);
  }
  for (const volume of request.volumes) {
    const home = volume.boundTo;
    if (home && `${home.kind}/${home.id}` !== `${candidate.kind}/${candidate.id}`)
      facts.add(`elsewhere ${volume.name}`);
    if (volume.attached_to && volume.access_mode === 'ReadWriteOnce') facts.add(`taken ${volume.name}`);
  }
  if (request.scaling !== 'fleet' && candidate.kind === 'host') facts.add('no cluster');
  if (request.scaling === 'autoscaling' && candidate.kind === 'cluster' && candidate.missing_permissions.length > 0) {
    facts.add('not permitted');
  }
  const found = candidate.kind === 'host' ? hostFacts(request, candidate) : clusterFacts(request, candidate);
  for (const fact of found) facts.add(fact);
  return facts;
}

function hostFacts(request: PlacementRequest, host: HostCandidate): string[] {
  const facts = machineFacts(request, host);
  if (!host.capacity) facts.push('size unknown');
  else facts.push(...runningOut(request, host.capacity, host.allocated));
  const pool = host.gpus.filter((gpu) => gpu.vram_bytes >= request.per_replica.vram_bytes).map((gpu) => gpu.id);
  const free = new Set(pool);
  for (const id of host.allocated.gpus) free.delete(id);
  if (!canTake(request, free.size, request.per_replica.gpu_count)) facts.push('too few GPUs');
  return facts;
}

function clusterFacts(request: PlacementRequest, cluster: ClusterCandidate): string[] {
  const facts: string[] = [];
  if (!cluster.allocatable) facts.push('size unknown');
  else {
    facts.push(...runningOut(request, cluster.allocatable, cluster.allocated));
    const free = cluster.allocatable.gpu_count - cluster.allocated.gpu_count;
    if (!canTake(request, free, request.per_replica.gpu_count)) facts.push('too few GPUs');
  }
  if (cluster.nodes.length === 0) return facts;
  const able = cluster.nodes.filter((node) => canRunOne(request, node));
  if (able.length === 0) return [...facts, 'no node'];
  return filled(request, able) < request.replicas ? [...facts, 'nodes too small for all'] : facts;
}

/** Subtracts the requirement of one replica after another. A requirement of zero is always met. */
function canTake(request: PlacementRequest, there: number, each: number): boolean {
  let rest = there;
  for (let replica = 0; replica < request.replicas && each > 0; replica += 1) {
    rest -= each;
    if (rest < 0) return false;
  }
  return true;
}

type Size = { readonly cpu_millis: number; readonly memory_bytes: number };

function runningOut(request: PlacementRequest, capacity: Size, allocated: Size): string[] {
  const facts: string[] = [];
  const { cpu_millis, memory_bytes } = request.per_replica;
  if (!canTake(request, capacity.cpu_millis - allocated.cpu_millis, cpu_millis)) facts.push('too few CPUs');
  if (!canTake(request, capacity.memory_bytes - allocated.memory_bytes, memory_bytes)) facts.push('too little memory');
  return facts;
}

function machineFacts(request: PlacementRequest, machine: Machine): string[] {
  const facts: string[] = [];
  if (!machine.schedulable) facts.push('closed');
  for (const key of Object.keys(request.node_selector)) {
    if (machine.labels[key] !== request.node_selector[key]) facts.push(`label ${key}`);
  }
  const repelling = new Set(machine.taints.filter((taint) => taint.effect !== 'PreferNoSchedule'));
  for (const toleration of request.tolerations) {
    for (const taint of repelling) {
      const effectFits = toleration.effect === undefined || toleration.effect === taint.effect;
      const anyValue = toleration.operator === 'Exists';
      const keyFits = toleration.key === taint.key || (anyValue && toleration.key === undefined);
      const valueFits = anyValue || (toleration.value || '') === (taint.value || '');
      if (effectFits && keyFits && valueFits) repelling.delete(taint);
    }
  }
  for (const { key, value, effect } of repelling) facts.push(`taint ${value ? `${key}=${value}` : key}:${effect}`);
  return facts;
}

function canRunOne(request: PlacementRequest, node: ClusterNode): boolean {
  const { cpu_millis, memory_bytes, gpu_count, vram_bytes } = request.per_replica;
  const sizeFits =
    node.allocatable.cpu_millis >= cpu_millis &&
    node.allocatable.memory_bytes >= memory_bytes &&
    node.allocatable.gpu_count >= gpu_count;
  const vramFits = node.vram_bytes === undefined || node.vram_bytes >= vram_bytes;
  return sizeFits && vramFits && machineFacts(request, node).length === 0;
}

/**
 * Places replicas on empty nodes, one node after the other, until all replicas are placed or no
 * node has capacity. @returns the number of placed replicas
 */
function filled(request: PlacementRequest, nodes: readonly ClusterNode[]): number {
  const { cpu_millis, memory_bytes, gpu_count } = request.per_replica;
  let placed = 0;
  for (const node of nodes) {
    const rest = { ...node.allocatable };
    while (placed < request.replicas) {
      rest.cpu_millis -= cpu_millis;
      rest.memory_bytes -= memory_bytes;
      rest.gpu_count -= gpu_count;
      if (rest.cpu_millis < 0 || rest.memory_bytes < 0 || rest.gpu_count < 0) break;
      placed += 1;
    }
  }
  return placed;
}
