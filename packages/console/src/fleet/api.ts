import table from 'virtual:endpoints/fleet';
import type { ChangeCounts, FleetAccess, fleetEndpoints } from '@svc/contract/fleet';
import { useQuery } from '@tanstack/react-query';
import { createApi } from '../shared/api/api.ts';
import { createClient, type Output } from '../shared/api/client.ts';
import { COUNTS_KEY } from '../shared/api/live.ts';
import { createSessionGate, type SessionGate } from '../shared/api/session-gate.ts';
import { t } from '../shared/texts/texts.ts';

export const sessionGate: SessionGate = createSessionGate(async () => (await fleet.call('getBrowserSession')).user);

type Endpoints = typeof fleetEndpoints;

/** The API of the fleet. */
export const fleet = createApi<Endpoints>(createClient<Endpoints>(table, sessionGate.wait));

export type FleetEndpointName = keyof Endpoints & string;

export type FleetOutput<K extends keyof Endpoints> = Output<Endpoints[K]>;

export type Application = FleetOutput<'getApplication'>['application'];
export type Deployment = FleetOutput<'getDeployment'>['deployment'];
export type Host = FleetOutput<'getHost'>['host'];
export type Cluster = FleetOutput<'getCluster'>['cluster'];
export type Workload = FleetOutput<'getWorkload'>['workload'];
export type Volume = FleetOutput<'getStorage'>['storage'];
export type Secret = FleetOutput<'getSecret'>['secret'];
export type FleetUser = FleetOutput<'getUser'>['user'];
export type Token = FleetOutput<'listTokens'>['tokens'][number];
export type Template = FleetOutput<'getMirroredTemplate'>;
export type Plan = FleetOutput<'planDeployment'>;
export type AuditEntry = FleetOutput<'listAuditEntries'>['entries'][number];
export type FleetEvent = FleetOutput<'listEvents'>['events'][number];

export const sessionQuery = {
  ...fleet.read('getBrowserSession'),
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
    const session = await fleet.call('getBrowserSession', { signal });
    sessionGate.note(session.user);
    return session;
  },
  staleTime: Number.POSITIVE_INFINITY,
};

/** The signed-in user. Pages exist only while there is one. */
export function useCaller(): NonNullable<FleetOutput<'getBrowserSession'>['user']> {
  const { data } = useQuery(sessionQuery);
  if (!data?.user) throw new Error('No user is signed in.');
  return data.user;
}

/** The reasons why an access is missing. The service decides which accesses the caller has. */
const reasons: Partial<Readonly<Record<FleetAccess, string>>> = {
  'catalog-sync': t('This requires the role operator or admin.'),
  'resources-write': t('This requires the role operator or admin.'),
  'people-write': t('This requires the role admin.'),
  'secrets-write': t('This requires the role admin.'),
  settings: t('This requires the role admin.'),
  audit: t('This requires the role admin.'),
  'plans-review': t('This requires the role operator or admin.'),
  'values-reveal': t('This requires a role that may reveal values in this fleet.'),
};

/** Returns why the caller must not call an endpoint, or undefined if it is permitted. */
export function useBlocked(): (name: keyof Endpoints & string) => string | undefined {
  const { data } = useQuery(sessionQuery);
  return (name) => {
    // The table of endpoints has the accesses of the contract.
    const access = fleet.accessOf(name) as FleetAccess;
    if (data?.may.includes(access)) return undefined;
    return reasons[access] ?? t('Your session does not permit this.');
  };
}

/**
 * Returns the number of deployments in some phases. Undefined until the stream of changes has sent
 * it.
 */
export function usePhaseCount(): ((phases: readonly Deployment['phase'][]) => number) | undefined {
  const { data } = useQuery<ChangeCounts>({ queryKey: COUNTS_KEY, enabled: false });
  return data && ((phases) => phases.reduce((sum, phase) => sum + data.deployments[phase], 0));
}
