import { fleetEndpoints, problemPhases } from '@svc/contract/fleet';
import type { z } from 'zod';
import { asTarget } from './targets.ts';
import type { Handlers } from './types.ts';

const NEED_ATTENTION: readonly string[] = problemPhases;

export const get_fleet_status: Handlers['get_fleet_status'] = async (_, { ask }) => {
  const [list, advised, { applications }, { user }, catalog, { hosts }, { clusters }] = await Promise.all([
    ask(fleetEndpoints.listDeployments, { query: { limit: 100, view: 'summary' } }),
    ask(fleetEndpoints.listDeployments, { query: { limit: 20, view: 'summary', advisory: 'warning' } }),
    ask(fleetEndpoints.listApplications, { query: { limit: 20, advisory: 'warning' } }),
    ask(fleetEndpoints.me),
    ask(fleetEndpoints.getSyncState),
    ask(fleetEndpoints.listHosts, { query: { limit: 50 } }),
    ask(fleetEndpoints.listClusters, { query: { limit: 50 } }),
  ]);
  const { deployments, pagination } = list;
  const byPhase: Record<string, number> = {};
  for (const { phase } of deployments) byPhase[phase] = (byPhase[phase] ?? 0) + 1;
  return {
    you: user,
    catalog,
    targets: [
      ...hosts.map((host) => asTarget('host', host)),
      ...clusters.map((cluster) => asTarget('cluster', cluster)),
    ],
    deployments: {
      total: pagination.total,
      by_phase: byPhase,
      need_attention: deployments.filter(({ phase }) => NEED_ATTENTION.includes(phase)),
      with_advisories: advised.deployments.map(({ name, template_slug, advice }) => ({
        name,
        template_slug,
        advisories: urgentOf(advice),
      })),
    },
    applications: {
      with_advisories: applications.map(({ name, slug, advice }) => ({ name, slug, advisories: urgentOf(advice) })),
    },
  };
};

type Advice = z.output<typeof fleetEndpoints.getApplication.reply>['application']['advice'];

const urgentOf = (advice: Advice) => advice?.advisories.filter(({ severity }) => severity !== 'note') ?? [];
