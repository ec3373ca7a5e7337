import table from 'virtual:endpoints/hub';
import type { HubAccess, hubEndpoints } from '@svc/contract/hub';
import { useQuery } from '@tanstack/react-query';
import { createApi } from '../shared/api/api.ts';
import { type CallInput, createClient, type Output } from '../shared/api/client.ts';
import { createSessionGate, type SessionGate } from '../shared/api/session-gate.ts';
import { t } from '../shared/texts/texts.ts';

export const sessionGate: SessionGate = createSessionGate(async () => (await hub.call('getBrowserSession')).user);

type Endpoints = typeof hubEndpoints;

/** The API of the hub. */
export const hub = createApi<Endpoints>(createClient<Endpoints>(table, sessionGate.wait));

export type HubOutput<K extends keyof Endpoints> = Output<Endpoints[K]>;

export type Template = HubOutput<'getTemplate'>;

/** The address of the icon of a template. The hub has one only after it could fetch it. */
export const iconOf = ({ slug, icon_url }: Pick<Template, 'slug' | 'icon_url'>): string | undefined =>
  icon_url === null || slug === '' ? undefined : `/api/v1/catalog/templates/${encodeURIComponent(slug)}/icon`;

export type ManagedApplication = HubOutput<'getManagedApplication'>['application'];
export type ApplicationBody = CallInput<Endpoints['createApplication']>['body'];
export type ApplicationChange = NonNullable<CallInput<Endpoints['updateApplication']>['body']>;
export type ManagedTemplate = HubOutput<'getManagedTemplate'>['template'];
export type TemplateBody = CallInput<Endpoints['createTemplate']>['body'];
export type Category = HubOutput<'getManagedCategory'>['category'];
export type Organization = HubOutput<'getManagedOrganization'>['organization'];
export type HubUser = HubOutput<'listUsers'>['users'][number];
export type ApiKey = HubOutput<'listApiKeys'>['apiKeys'][number];
export type ServiceToken = HubOutput<'listServiceTokens'>['serviceTokens'][number];
export type ManagedApiKey = HubOutput<'listAllApiKeys'>['apiKeys'][number];

export const sessionQuery = {
  ...hub.read('getBrowserSession'),
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
    const session = await hub.call('getBrowserSession', { signal });
    sessionGate.note(session.user);
    return session;
  },
  staleTime: Number.POSITIVE_INFINITY,
};

/** The signed-in user; null for a visitor. */
export const useUser = () => useQuery(sessionQuery).data?.user ?? null;

/** The signed-in user. Pages that require one exist only while there is one. */
export function useCaller(): NonNullable<ReturnType<typeof useUser>> {
  const user = useUser();
  if (!user) throw new Error('No user is signed in.');
  return user;
}

const suspended = t('Members of a suspended organization have read access only.');

/** The reasons why an access is missing. The service decides which accesses the caller has. */
const reasons: Partial<Readonly<Record<HubAccess, string>>> = {
  account: t('Sign in first.'),
  'account-change': suspended,
  'account-keys': t('Only administrators of your organization can do this.'),
  'account-members': t('Only administrators of your organization can do this.'),
  admin: t('Only administrators of the hub can do this.'),
};

/** Returns why the caller must not call an endpoint, or undefined if it is permitted. */
export function useBlocked(): (name: keyof Endpoints & string) => string | undefined {
  const { data } = useQuery(sessionQuery);
  return (name) => {
    // The table of endpoints has the accesses of the contract.
    const access = hub.accessOf(name) as HubAccess;
    if (data?.may.includes(access)) return undefined;
    if (access.startsWith('account-') && data?.user?.organization?.status === 'suspended') return suspended;
    return reasons[access] ?? t('Your session does not permit this.');
  };
}

const REQUESTS_MS = 60_000;

/** The number of access requests that an administrator has not decided; 0 for other callers. */
export function useOpenRequests(): number {
  const enabled = useBlocked()('listAllAccessRequests') === undefined;
  const { data } = useQuery({
    ...hub.read('listAllAccessRequests', { query: { status: 'open', limit: 1 } }),
    enabled,
    refetchInterval: REQUESTS_MS,
  });
  return data?.pagination.total ?? 0;
}
