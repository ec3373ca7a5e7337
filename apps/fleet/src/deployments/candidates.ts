import type { Elastic } from '@svc/contract/fleet';
import { Prisma } from '../generated/prisma/client.ts';
import type { AddressesByType } from '../placement/addresses.ts';
import {
  type Candidate,
  type ClusterNode,
  type ElasticLimits,
  observedLabels,
  type Reachability,
  type Taint,
} from '../placement/candidates.ts';
import { bytes, milli } from '../placement/quantities.ts';
import { DEFAULT_NETWORK_POOL, type Subnet } from '../placement/subnets.ts';

interface Amounts {
  readonly cpu_millis: number;
  readonly memory_bytes: number;
}

interface Allocated extends Amounts {
  readonly gpu_count: number;
  /** The ids of the GPUs of a host. */
  readonly gpus: readonly string[];
}

/**
 * What a host or cluster has, and what is allocated on it. The last member shows which one it is.
 */
interface TargetRow {
  readonly id: string;
  readonly name: string;
  /**
   * The identity of the engine, or the id if it is not known. Registrations of the same engine
   * share its allocated resources.
   */
  readonly engine: string;
  /** The order of registration. */
  readonly registered: string;
  readonly reachability: Reachability;
  readonly network_types: readonly string[];
  readonly cpu_millis: number | null;
  readonly memory_bytes: number | null;
  readonly allocated: Allocated;
  readonly host?: HostFacts;
  readonly cluster?: ClusterFacts;
}

interface HostFacts {
  readonly engine: 'docker' | 'podman';
  readonly engine_version: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly arch: string | null;
  readonly taints: readonly Taint[];
  readonly schedulable: boolean;
  readonly addresses: AddressesByType;
  readonly gpus: readonly { readonly id: string; readonly model: string; readonly vram: string }[];
}

interface ClusterFacts {
  readonly namespace: string;
  readonly gpu_count: number | null;
  readonly gives_tokens: boolean;
  readonly missing_permissions: readonly string[];
  readonly elastic: Elastic | null;
  readonly nodes: readonly NodeRow[];
}

interface NodeRow extends Amounts {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly taints: Taint[];
  readonly schedulable: boolean;
  readonly gpu_count: number;
}

interface Changes {
  /** Transactions before this one have ended, and the reading contains their changes. */
  readonly before: bigint;
  /** Whether the transaction changed a target itself. */
  readonly has_own: boolean;
  /** The number of hosts and clusters. */
  readonly total: number;
  readonly targets: readonly TargetRow[];
}

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** The resources that are allocated to a deployment on its target. */
export interface Allocation extends Allocated {
  readonly targetId: string;
}

/** Allocations that differ from those in the database. */
export interface Reallocation {
  readonly released: readonly Allocation[];
  readonly added: readonly Allocation[];
}

const UNCHANGED: Reallocation = { released: [], added: [] };

/** All hosts and clusters as candidates for a placement, with their allocated resources. */
export interface Candidates {
  /** The subnets from which networks of hosts are allocated. */
  readonly networkPool: Subnet;
  /**
   * Reads the candidates as the transaction sees them now, as if resources were reallocated. The
   * transaction holds the placement lock if it allocates resources later. The work of the database
   * depends on the number of targets that changed since the last call of any transaction, unless
   * the transaction changed a target itself.
   */
  read(transaction: Reader, reallocation?: Reallocation): Promise<readonly Candidate[]>;
  /** Reads the candidates once. The result answers each reading from memory, whatever changes later. */
  readOnce(transaction: Reader): Promise<Candidates>;
}

/**
 * Candidates in memory. Each reading adds the targets that were changed by a transaction that had
 * not ended before the previous reading. A target that was deleted, and a database that was
 * replaced, cause a reading of all targets.
 */
export function createCandidates(networkPool = DEFAULT_NETWORK_POOL): Candidates {
  let known = new KnownTargets();
  let since = FROM_THE_BEGINNING;
  let last: Promise<unknown> = Promise.resolve();

  const read = async (transaction: Reader): Promise<KnownTargets> => {
    const changes = await readChanges(transaction, since);
    // What the transaction changed itself must not stay in memory, because it can be rolled back.
    if (changes.has_own) return (await readAll(transaction)).known;
    known.apply(changes.targets);
    const isComplete = changes.before >= since && known.size === changes.total;
    if (isComplete) since = changes.before;
    else ({ known, since } = await readAll(transaction));
    return known;
  };
  const readInTurn = <T>(transaction: Reader, use: (targets: KnownTargets) => T): Promise<T> => {
    // One after the other, so that no reading is replaced by an earlier one.
    const result = last.then(async () => use(await read(transaction)));
    last = result.catch(() => undefined); // the caller receives the error
    return result;
  };
  return {
    networkPool,
    read: (transaction, reallocation) => readInTurn(transaction, (targets) => targets.candidates(reallocation)),
    readOnce: (transaction) => readInTurn(transaction, (targets) => inMemory(targets.copy(), networkPool)),
  };
}

function inMemory(targets: KnownTargets, networkPool: Subnet): Candidates {
  const candidates: Candidates = {
    networkPool,
    read: async (_, reallocation) => targets.candidates(reallocation),
    readOnce: async () => candidates,
  };
  return candidates;
}

const FROM_THE_BEGINNING = 0n;
/** No transaction has this number. */
const LAST = Prisma.sql`9223372036854775807`;

async function readAll(transaction: Reader) {
  const { before, targets } = await readChanges(transaction, FROM_THE_BEGINNING);
  const known = new KnownTargets();
  known.apply(targets);
  return { known, since: before };
}

/**
 * The changed targets are selected by an array, so that the plan for any `from` is as good as the
 * plan for the given one. PostgreSQL then plans the statement once per connection, and not for each
 * creation.
 */
async function readChanges(transaction: Reader, from: bigint): Promise<Changes> {
  const [changes] = await transaction.$queryRaw<Changes[]>`
      SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS before,
        EXISTS (SELECT FROM placement_targets WHERE changed_in = pg_current_xact_id_if_assigned()::text::bigint) AS has_own,
        ((SELECT count(*) FROM hosts) + (SELECT count(*) FROM clusters))::int AS total,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name, 'engine', coalesce(s.identity, s.id::text),
             'registered', to_char(s.created_at, 'YYYYMMDDHH24MISSMS') || s.id, 'reachability', s.reachability,
             'network_types', s.network_types, 'cpu_millis', s.cpu_millis, 'memory_bytes', s.memory_bytes,
             'allocated', jsonb_build_object('cpu_millis', t.cpu_millis, 'memory_bytes', t.memory_bytes, 'gpu_count', t.gpu_count,
               'gpus', ARRAY(SELECT g.gpu_id FROM allocated_gpus g WHERE g.host_id = s.id)), s.kind, s.facts)), '[]')
         FROM placement_targets t JOIN (
           SELECT id, name, identity, created_at, reachability, network_types, cpu_millis, memory_bytes, 'host' AS kind,
             jsonb_build_object('engine', engine, 'engine_version', engine_version, 'labels', labels, 'arch', arch,
               'taints', taints, 'schedulable', schedulable,
               'addresses', addresses, 'gpus', gpus) AS facts
           FROM hosts
           UNION ALL
           SELECT id, name, identity, created_at, reachability, network_types, cpu_millis, memory_bytes, 'cluster',
              jsonb_build_object('namespace', namespace, 'gpu_count', gpu_count, 'elastic', elastic,
                'gives_tokens', allow_service_account_tokens, 'missing_permissions', missing_permissions, 'nodes', (
               SELECT coalesce(jsonb_agg(jsonb_build_object('name', n.name, 'labels', n.labels, 'taints', n.taints,
                 'schedulable', n.schedulable AND n.ready, 'cpu_millis', n.cpu_millis, 'memory_bytes', n.memory_bytes,
                 'gpu_count', n.gpu_count) ORDER BY n.name), '[]')
               FROM nodes n WHERE n.cluster_id = clusters.id))
           FROM clusters) s ON s.id = t.target_id
         WHERE t.target_id = ANY (ARRAY(
           SELECT c.target_id FROM placement_targets c WHERE c.changed_in >= ${from}::bigint AND c.changed_in <
             CASE WHEN ${from}::bigint = ${FROM_THE_BEGINNING} THEN ${LAST}
               ELSE pg_snapshot_xmax(pg_current_snapshot())::text::bigint END))) AS targets`;
  if (changes === undefined) throw new Error('the candidates were not read');
  return changes;
}

/** The targets in memory, by id and by engine. */
class KnownTargets {
  readonly #rows = new Map<string, TargetRow>();
  readonly #byEngine = new Map<string, Set<string>>();
  readonly #candidates = new Map<string, Candidate>();

  get size(): number {
    return this.#rows.size;
  }

  copy(): KnownTargets {
    const copy = new KnownTargets();
    for (const [id, row] of this.#rows) copy.#rows.set(id, row);
    for (const [engine, ids] of this.#byEngine) copy.#byEngine.set(engine, new Set(ids));
    for (const [id, candidate] of this.#candidates) copy.#candidates.set(id, candidate);
    return copy;
  }

  candidates({ released, added }: Reallocation = UNCHANGED): readonly Candidate[] {
    const ids = new Set([...released, ...added].map(({ targetId }) => targetId));
    const engines = new Set([...ids].flatMap((id) => this.#rows.get(id)?.engine ?? []));
    const changed = new Map(
      [...engines]
        .flatMap((engine) => this.#candidatesOf(engine, { released, added }))
        .map((candidate) => [candidate.id, candidate]),
    );
    return [...this.#candidates.values()].map((candidate) => changed.get(candidate.id) ?? candidate);
  }

  apply(rows: readonly TargetRow[]): void {
    const engines = new Set<string>();
    for (const row of rows) {
      const before = this.#rows.get(row.id);
      if (before) engines.add(before.engine);
      if (before) this.#byEngine.get(before.engine)?.delete(row.id);
      this.#rows.set(row.id, row);
      engines.add(row.engine);
      this.#byEngine.set(row.engine, (this.#byEngine.get(row.engine) ?? new Set()).add(row.id));
    }
    for (const engine of engines) {
      for (const candidate of this.#candidatesOf(engine)) this.#candidates.set(candidate.id, candidate);
    }
  }

  #candidatesOf(engine: string, reallocation = UNCHANGED): Candidate[] {
    const ids = this.#byEngine.get(engine) ?? new Set();
    const rows = [...ids].flatMap((id) => this.#rows.get(id) ?? []);
    const released = reallocation.released.filter(({ targetId }) => ids.has(targetId));
    const added = reallocation.added.filter(({ targetId }) => ids.has(targetId));
    const inOrder = rows.toSorted((one, other) => (one.registered < other.registered ? -1 : 1));
    const firstOf = (row: TargetRow) => inOrder.find((other) => other.cluster?.namespace === row.cluster?.namespace);
    const sum = (amounts: readonly Allocated[], amount: 'cpu_millis' | 'memory_bytes' | 'gpu_count') =>
      amounts.reduce((total, each) => total + each[amount], 0);
    const stored = rows.map((row) => row.allocated);
    const total = (amount: 'cpu_millis' | 'memory_bytes' | 'gpu_count') =>
      sum(stored, amount) - sum(released, amount) + sum(added, amount);
    const free = new Set(released.flatMap(({ gpus }) => gpus));
    const allocated = {
      cpu_millis: total('cpu_millis'),
      memory_bytes: total('memory_bytes'),
      gpu_count: total('gpu_count'),
      gpus: [
        ...stored.flatMap(({ gpus }) => gpus).filter((gpu) => !free.has(gpu)),
        ...added.flatMap(({ gpus }) => gpus),
      ],
    };
    return rows.map((row) => {
      const first = firstOf(row);
      return candidateOf({ ...row, allocated }, first === row ? undefined : first?.name);
    });
  }
}

const amountsOf = ({ cpu_millis, memory_bytes }: Pick<TargetRow, 'cpu_millis' | 'memory_bytes'>) =>
  cpu_millis === null || memory_bytes === null ? null : { cpu_millis, memory_bytes };

/**
 * `duplicate_of` is the name of the registration of the same engine, and of the same namespace of a
 * cluster, that was first. Nothing new is placed on the others.
 */
function candidateOf(row: TargetRow, duplicate_of: string | undefined): Candidate {
  const { id, name, reachability, network_types, host, cluster } = row;
  const { cpu_millis, memory_bytes, gpu_count, gpus } = row.allocated;
  const common = { id, name, reachability, network_types, duplicate_of };
  const amounts = amountsOf(row);
  if (!host) {
    const { gpu_count: gpuCount = null, nodes = [], elastic } = cluster ?? {};
    const { gives_tokens = false, missing_permissions = [] } = cluster ?? {};
    return {
      kind: 'cluster',
      ...common,
      allocatable: amounts && { ...amounts, gpu_count: gpuCount ?? 0 },
      allocated: { cpu_millis, memory_bytes, gpu_count },
      missing_permissions,
      nodes: nodes.map(nodeOf), // the scheduler of the cluster makes the final choice of a node
      ...(gives_tokens && { gives_tokens }),
      elastic: elastic ? limitsOf(elastic) : undefined,
    };
  }
  return {
    kind: 'host',
    ...common,
    engine: host.engine,
    engine_version: host.engine_version,
    labels: { ...observedLabels(host.arch), ...host.labels },
    taints: host.taints,
    schedulable: host.schedulable,
    addresses: host.addresses,
    capacity: amounts,
    gpus: host.gpus.map(({ id: gpu, model, vram }) => ({ id: gpu, model, vram_bytes: bytes(vram) })),
    allocated: { cpu_millis, memory_bytes, gpus },
  };
}

/** The node label of NVIDIA's GPU feature discovery: the memory of each GPU in MiB. */
const GPU_MEMORY = 'nvidia.com/gpu.memory';

function nodeOf({ name, labels, taints, schedulable, ...allocatable }: NodeRow): ClusterNode {
  const mebibytes = Number(labels[GPU_MEMORY]);
  const vram = mebibytes > 0 ? { vram_bytes: mebibytes * 2 ** 20 } : {};
  return { name, labels, taints, schedulable, allocatable, ...vram };
}

const limitsOf = ({ max_nodes, per_replica: { cpu, memory, gpu_count }, gpus }: Elastic): ElasticLimits => ({
  max_nodes,
  per_replica: { cpu_millis: milli(cpu), memory_bytes: bytes(memory), gpu_count },
  gpus: gpus.map(({ model, vram, count }) => ({ model, count, vram_bytes: bytes(vram) })),
});
