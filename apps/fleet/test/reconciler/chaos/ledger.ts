import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ask, type LoadResult } from '@svc/testing/faults';

/**
 * The expected state of a deployment. A field has several possible values after a response was
 * lost.
 */
export interface Known {
  readonly id: string;
  readonly name: string;
  readonly replicas: Set<number>;
  readonly round: Set<string>;
  readonly desired: Set<'running' | 'stopped'>;
  gone: 'no' | 'maybe' | 'yes';
  generation: number;
  /** Each acknowledged change with its generation. */
  readonly acknowledged: { readonly generation: number; readonly operation: string }[];
}

interface LedgerTarget {
  /** Address of a random replica. */
  readonly url: () => string;
  readonly secret: string;
  /** Target of the deployments. */
  readonly target: object;
  /** Workload of the deployment of a slot. */
  readonly workloadOf: (slot: number) => string;
}

const pick = <T>(items: readonly [T, ...T[]]): T => items[Math.floor(Math.random() * items.length)] ?? items[0];
const isLost = ({ status }: LoadResult): boolean => status === 0 || status >= 500;

/** Changes deployments at random, one per slot, and records what was acknowledged. */
export function openLedger({ url, secret, target, workloadOf }: LedgerTarget) {
  const all: Known[] = [];
  const wrong: string[] = [];
  const counts = { acknowledged: 0, refused: 0, lost: 0 };
  const slots: { known?: Known | undefined; key: string; name: string }[] = [];
  let names = 0;
  let rounds = 0;

  const send = async (method: string, path: string, body?: object, headers = {}): Promise<LoadResult> => {
    const asked = { method, authorization: `Bearer ${secret}`, headers, ...(body && { body }) };
    const seen = await ask(`${url()}/api/v1/deployments${path}`, asked);
    counts[isLost(seen) ? 'lost' : seen.status < 300 ? 'acknowledged' : 'refused'] += 1;
    return seen;
  };

  const create = async (index: number) => {
    slots[index] ??= { key: randomUUID(), name: `fire-${++names}` };
    const slot = slots[index];
    const body = { name: slot.name, workload_id: workloadOf(index), target };
    // Repeated after a lost response.
    const seen = await send('POST', '', body, { 'Idempotency-Key': slot.key });
    if (seen.status !== 201) return;
    const { id, generation } = seen.body.deployment;
    slot.known = {
      id,
      name: slot.name,
      gone: 'no',
      generation,
      acknowledged: [{ generation, operation: 'create' }],
      replicas: new Set([1]),
      round: new Set(['0']),
      desired: new Set(['running'] as const),
    };
    all.push(slot.known);
  };

  /**
   * Records a requested value. After a lost response, both the old and the new value are possible.
   */
  const settle = <T>(seen: LoadResult, values: Set<T>, value: T) => {
    if (seen.status === 200) values.clear();
    if (seen.status === 200 || isLost(seen)) values.add(value);
  };
  const changes: Record<string, (known: Known) => Promise<LoadResult>> = {
    scale: async ({ id, replicas }) => {
      const wanted = pick([1, 2]);
      const seen = await send('POST', `/${id}/scale`, { replicas: wanted });
      settle(seen, replicas, wanted);
      return seen;
    },
    update: async ({ id, round }) => {
      const wanted = `${++rounds}`;
      const seen = await send('PUT', `/${id}`, { env: { ROUND: wanted } });
      settle(seen, round, wanted);
      return seen;
    },
    ...Object.fromEntries(
      (['start', 'stop', 'restart'] as const).map((operation) => [
        operation,
        async ({ id, desired }: Known) => {
          const seen = await send('POST', `/${id}/${operation}`, {});
          settle(seen, desired, operation === 'stop' ? 'stopped' : 'running');
          return seen;
        },
      ]),
    ),
    delete: async (known) => {
      const seen = await send('DELETE', `/${known.id}`);
      if (isLost(seen)) known.gone = 'maybe';
      if (seen.status === 200) known.gone = 'yes';
      return seen;
    },
  };

  const change = async (index: number, known: Known) => {
    const operation = pick(['scale', 'update', 'update', 'start', 'start', 'stop', 'restart', 'delete']);
    const seen = (await changes[operation]?.(known)) ?? { status: 0, body: {} };
    const generation = Number(seen.body.deployment?.generation ?? known.generation);
    if (seen.status === 200 && generation > known.generation) {
      known.acknowledged.push({ generation, operation });
      known.generation = generation;
    }
    if (seen.status === 404) {
      if (known.gone === 'no') wrong.push(`${known.name} is gone without a deletion`);
      known.gone = 'yes';
    }
    if (known.gone === 'yes') slots[index] = { key: randomUUID(), name: `fire-${++names}` };
  };

  /** Makes one change in a slot. */
  const step = async (index: number) => {
    const known = slots[index]?.known;
    await (known ? change(index, known) : create(index));
  };

  return {
    all: all as readonly Known[],
    wrong,
    counts: counts as Readonly<typeof counts>,
    create,
    /** Changes the given slots repeatedly until `until` is aborted. */
    write: async (mine: readonly number[], until: AbortSignal) => {
      while (!until.aborted) {
        await step(mine[Math.floor(Math.random() * mine.length)] ?? 0);
        await pause(20 + Math.random() * 130);
      }
    },
  };
}

export type Ledger = ReturnType<typeof openLedger>;
