import type { Sealer } from '@svc/database';
import { type Finding, failed, type OutboundAllowance, ok, warning } from '@svc/http';
import type { Database } from '../database/client.ts';
import { DEFAULT_DOCKER_TIMINGS } from '../engines/docker/client.ts';
import { check as checkCluster } from '../engines/kubernetes/check/check.ts';
import { DEFAULT_KUBERNETES_TIMINGS } from '../engines/kubernetes/client.ts';
import { createClusterClients, createHostClients } from '../reconciler/engine-clients.ts';
import { expiryWarning } from '../resources/clusters.ts';

/**
 * The maximum number of hosts, and of clusters, that are checked. Those that the fleet could not
 * reach come first.
 */
const MAX_TARGETS = 25;
const ANSWER_MS = 2000;
/** The time limit for all requests to one target. */
const TARGET_MS = 6000;

const first = { take: MAX_TARGETS, orderBy: { check_failures: 'desc' } } as const;

interface Options {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly allowed: ReadonlySet<OutboundAllowance>;
}

/** Connects to the registered hosts and clusters, and changes nothing on them. */
export async function checkEngines({ database: { client }, sealer, allowed }: Options): Promise<Finding> {
  const [hosts, clusters, total] = await Promise.all([
    client.host.findMany(first),
    client.cluster.findMany(first),
    Promise.all([client.host.count(), client.cluster.count()]),
  ]);
  const docker = createHostClients({ sealer, allowed }, { ...DEFAULT_DOCKER_TIMINGS, answer: ANSWER_MS });
  const kubernetes = createClusterClients({ sealer, allowed }, { ...DEFAULT_KUBERNETES_TIMINGS, answer: ANSWER_MS });
  try {
    const tries = [
      ...hosts.map((row) => ({
        name: `host ${row.name}`,
        work: async () => {
          await (await docker.of(row)).withSignal(AbortSignal.timeout(TARGET_MS)).versionHandshake();
          return undefined;
        },
      })),
      ...clusters.map((row) => ({
        name: `cluster ${row.name}`,
        work: async () => {
          const { conditions, credentials_expire_at } = await checkCluster(
            (await kubernetes.of(row)).withSignal(AbortSignal.timeout(TARGET_MS)),
          );
          const missing = conditions.find(
            ({ type, status }) => /^(NamespaceReady|Permitted)$/.test(type) && status === 'False',
          );
          if (missing) throw new Error(missing.message);
          return expiryWarning(credentials_expire_at);
        },
      })),
    ];
    const attempts = tries.map(async ({ name, work }) => {
      try {
        const notice = await work();
        return { notices: notice === undefined ? [] : [`${name}: ${notice}`], problems: [] };
      } catch (error) {
        return { notices: [], problems: [`${name}: ${error instanceof Error ? error.message : String(error)}`] };
      }
    });
    const results = await Promise.all(attempts);
    const problems = results.flatMap((result) => result.problems);
    const notices = results.flatMap((result) => result.notices);
    const count = total[0] + total[1];
    const checked = `${tries.length} of ${count} hosts and clusters were checked.`;
    const found = [checked, ...problems, ...notices].join('\n');
    if (problems.length === 0 && notices.length > 0)
      return warning(found, 'Replace the credentials before they expire.');
    if (problems.length === 0) return ok(count === 0 ? 'No host or cluster is registered.' : checked);
    return failed(
      found,
      'Check that the engine runs, its endpoint and its credentials, and OUTBOUND_ALLOW. Deployments there keep running.',
    );
  } finally {
    await Promise.all([docker.close(), kubernetes.close()]);
  }
}
