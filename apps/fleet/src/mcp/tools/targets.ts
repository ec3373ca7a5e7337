import { partsOf, restOf } from '@svc/contract';
import { briefTarget, fleetEndpoints } from '@svc/contract/fleet';
import { invalid } from '@svc/http';
import type { Ask } from '@svc/mcp';
import type { Handlers } from './types.ts';

const { listHosts, listClusters, updateHost, updateCluster, checkHost, checkCluster } = fleetEndpoints;

type Kind = 'host' | 'cluster';

/** A host or cluster in a list of both. A cluster always accepts new deployments. */
export const asTarget = <T extends object>(kind: Kind, target: T) => ({ kind, schedulable: true, ...target });

/** The members that only a host has. */
const OF_HOSTS = ['taints', 'schedulable'];

export const targetTools: Pick<Handlers, 'list_targets' | 'update_target' | 'check_target'> = {
  list_targets: async ({ full, ...given }, { ask }) => {
    const query = partsOf(listClusters, given).query;
    const [ofHosts, ofClusters] = await Promise.all([ask(listHosts, { query }), ask(listClusters, { query })]);
    const targets = [
      ...ofHosts.hosts.map((host) => asTarget('host', host)),
      ...ofClusters.clusters.map((cluster) => asTarget('cluster', cluster)),
    ];
    const { page } = ofHosts.pagination;
    const total = ofHosts.pagination.total + ofClusters.pagination.total;
    const totalPages = Math.max(ofHosts.pagination.totalPages, ofClusters.pagination.totalPages);
    return {
      targets: full ? targets : targets.map((target) => briefTarget.parse(target)),
      ...restOf({ page, total, totalPages }),
    };
  },
  update_target: async ({ kind, id, version, ...given }, { ask }) => {
    const foreign = kind === 'cluster' ? OF_HOSTS.filter((member) => given[member] !== undefined) : [];
    if (foreign.length > 0) throw invalid(foreign.map((path) => ({ path, message: 'is only for hosts' })));
    return { target: await update(ask, kind, { params: { id }, body: given, version }) };
  },
  check_target: async ({ kind, id }, { ask }) => {
    const asked = { params: { id } };
    if (kind === 'host') return { target: asTarget(kind, (await ask(checkHost, asked)).host) };
    return { target: asTarget(kind, (await ask(checkCluster, asked)).cluster) };
  },
};

async function update(ask: Ask, kind: Kind, asked: Parameters<Ask>[1]) {
  if (kind === 'host') return asTarget(kind, (await ask(updateHost, asked)).host);
  return asTarget(kind, (await ask(updateCluster, asked)).cluster);
}
