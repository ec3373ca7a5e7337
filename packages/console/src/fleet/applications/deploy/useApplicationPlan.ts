import { useQuery } from '@tanstack/react-query';
import { type FleetOutput, fleet } from '../../api.ts';
import { usePlanOf } from '../../deployments/usePlan.ts';
import type { ApplicationBody } from './application-draft.ts';

export type ApplicationPlan = FleetOutput<'planApplication'>;

/** The members of the request that have a field. */
export const applicationFields: readonly string[] = ['name', 'target', 'inputs', 'volumes'];

/** The plan of a new application, and the name of the target that it has chosen. */
export function useApplicationPlan(body: ApplicationBody) {
  const plan = usePlanOf('application', {
    body,
    repeats: true,
    request: (settled, signal) => fleet.call('planApplication', { body: JSON.parse(settled), signal }),
  });
  const target = plan.data?.placement.target;
  const hostId = target?.host_id ?? '';
  const clusterId = target?.cluster_id ?? '';
  const host = useQuery({ ...fleet.read('getHost', { params: { id: hostId } }), enabled: hostId !== '' });
  const cluster = useQuery({ ...fleet.read('getCluster', { params: { id: clusterId } }), enabled: clusterId !== '' });
  const nameOfCluster = clusterId === '' ? undefined : cluster.data?.cluster.name;
  return { ...plan, targetName: hostId === '' ? nameOfCluster : host.data?.host.name };
}
