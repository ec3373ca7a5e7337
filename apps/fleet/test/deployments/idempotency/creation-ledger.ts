import { randomUUID } from 'node:crypto';
import { ask, type LoadResult } from '@svc/testing/faults';

type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

interface LedgerTarget {
  /** The address of the fleet. It may change when the fleet restarts. */
  readonly url: () => string;
  /** The MCP token of an admin. */
  readonly secret: string;
  readonly workloadId: string;
}

/** Creates and deletes deployments, and records the acknowledged changes. */
export function openCreations({ url, secret, workloadId }: LedgerTarget) {
  const there = new Map<string, string>();
  const gone = new Set<string>();
  /** Deployments with a deletion request whose result is unknown. */
  const unknown = new Set<string>();
  let changes = 0;

  const send = (method: string, path: string, body?: object): Promise<LoadResult & { readonly requestId: string }> => {
    const requestId = randomUUID();
    const asked = { method, authorization: `Bearer ${secret}`, headers: { 'X-Request-Id': requestId } };
    const seen = ask(`${url()}/api/v1/deployments${path}`, body ? { ...asked, body } : asked);
    return seen.then((answer) => ({ ...answer, requestId }));
  };

  /** A writer creates two deployments, deletes one of them, and starts again. */
  const writer = (name: string): (() => Promise<LoadResult>) => {
    let count = 0;
    let next: string | undefined;
    return async () => {
      if (next === undefined || count % 3 !== 0) {
        const seen = await send('POST', '', { name: `${name}-${++count}`, workload_id: workloadId });
        if (seen.status !== 201) return seen;
        next = String(seen.body.deployment.id);
        there.set(next, seen.requestId);
        changes += 1;
        return seen;
      }
      const id = next;
      next = undefined;
      count += 1;
      unknown.add(id);
      const seen = await send('DELETE', `/${id}`);
      if (seen.status === 200) {
        unknown.delete(id);
        there.delete(id);
        gone.add(id);
        changes += 1;
      }
      return seen;
    };
  };

  return {
    writer,
    acknowledged: () => changes,
    /**
     * Acknowledged changes that are missing, and partially created deployments, as text. The list
     * is empty if nothing was lost.
     */
    lost: async (query: Query): Promise<string[]> => {
      const rows = await query(`
        SELECT d.id, d.gpu_count, (SELECT count(*)::int FROM allocated_gpus g WHERE g.deployment_id = d.id) AS gpus,
          (SELECT count(*)::int FROM attachments a JOIN volumes v ON v.id = a.volume_id
           WHERE a.deployment_id = d.id AND v.deployment_id = d.id AND v.host_id = d.host_id) AS volumes,
          (SELECT count(*)::int FROM deployment_events e WHERE e.deployment_id = d.id AND e.reason = 'create') AS operations,
          (SELECT count(*)::int FROM deployment_revisions r WHERE r.deployment_id = d.id) AS revisions
        FROM deployments d`);
      const half = rows.filter((row) =>
        ['gpus', 'gpu_count', 'volumes', 'operations', 'revisions'].some((of) => row[of] !== 1),
      );
      const ids = new Set(rows.map(({ id }) => String(id)));
      const entries = await query(`SELECT request_id FROM audit_entries WHERE method = 'POST' AND status = 201`);
      const recorded = new Set(entries.map(({ request_id }) => String(request_id)));
      const orphans = await query(`SELECT name FROM volumes WHERE deployment_id IS NULL`);
      const made = await query(`
        SELECT (SELECT count(*) FROM deployments) AS deployments, (SELECT count(*) FROM volumes) AS volumes,
          (SELECT count(*) FROM allocated_gpus) AS gpus`);
      const counts = new Set(Object.values(made[0] ?? {}));
      return [
        ...[...there.keys()]
          .filter((id) => !ids.has(id) && !unknown.has(id))
          .map((id) => `deployment ${id} is missing`),
        ...[...there]
          .filter(([, request]) => !recorded.has(request))
          .map(([id]) => `deployment ${id} has no audit entry`),
        ...[...gone].filter((id) => ids.has(id)).map((id) => `deployment ${id} exists after its deletion`),
        ...half.map((row) => `deployment is incomplete: ${JSON.stringify(row)}`),
        ...orphans.map(({ name }) => `volume ${name} belongs to no deployment`),
        ...(counts.size === 1 ? [] : [`volumes or GPUs without a deployment: ${JSON.stringify(made[0])}`]),
      ];
    },
  };
}
