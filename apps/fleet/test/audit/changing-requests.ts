import { randomUUID } from 'node:crypto';
import { challengeOf } from '@svc/auth';
import type { Endpoint } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import type { ApiRequest } from '@svc/testing';
import { aTemplate } from '../a-template.ts';
import { cookieIn, OF_CONSOLE, SESSION } from '../auth/console.ts';
import { aBundle } from '../catalog/bundles.ts';
import { changingSources } from '../sources/changing.ts';
import { changingTrust } from '../trust/changing.ts';
import { changingWebhooks } from '../webhooks/changing.ts';
import { FRONTEND, TEMPORARY_ADMIN, type World } from '../world.ts';
import { aConsoleSignIn, aSignInCode, OIDC_LOGIN, openProviderCallback } from './browser.ts';
import { changingResources } from './changing-resources.ts';
import { CODE } from './small-provider.ts';

type Operation = keyof typeof fleetEndpoints;
type Given = Partial<Omit<ApiRequest, 'method'>>;

/** The password of the person who makes a request. */
export const PASSWORD = 'a good password of the person';

/** Endpoints that may change something: each method except GET, and the redirects of a sign-in. */
export const changingOperations = (Object.keys(fleetEndpoints) as Operation[]).filter(
  (operation) => fleetEndpoints[operation].method !== 'get' || fleetEndpoints[operation].status === 302,
);

/** Endpoints that only sessions can call. A token has no session. */
export const FOR_SESSIONS: readonly string[] = [
  'logout',
  'changeOwnPassword',
  'endBrowserSession',
  'endOwnSessions',
  'endOwnSession',
  'connectProgram',
  'revealDeploymentValue',
  'revealApplicationValue',
  'approvePlan',
  'rejectPlan',
];

/** How to make a request that each endpoint carries out, in a fleet with a hub and a provider. */
export const changingRequests = (world: World): Partial<Record<Operation, () => Promise<Given>>> => {
  const aUserWithoutPassword = async (): Promise<string> =>
    (await world.asAdmin.post('/api/v1/users', { email: `${randomUUID()}@example.test`, role: 'viewer' })).body.user.id;
  const aUserAt = async (rest = {}) => ({ path: `/api/v1/users/${(await world.aUser('viewer')).id}`, ...rest });
  const invite = async (id: string): Promise<string> =>
    (await world.asAdmin.post(`/api/v1/users/${id}/invitation`)).body.invitation.code;
  /** That of the person who makes the request, if a person does. */
  const idOfLastSession = async () => {
    const orderBy = { created_at: 'desc' } as const;
    return (await world.database.client.session.findFirst({ orderBy, select: { id: true } }))?.id;
  };
  const aTokenAt = async (rest: string) => ({ path: `/api/v1/tokens/${(await world.aToken()).id}${rest}` });
  return {
    login: async () => ({ body: TEMPORARY_ADMIN }),
    startOidcLogin: async () => ({ path: OIDC_LOGIN }),
    endOidcLogin: () => openProviderCallback(world.nobody),
    exchangeOidcCode: async () => ({
      body: { code: CODE, code_verifier: 'v'.repeat(43), redirect_uri: `${FRONTEND}/back` },
    }),
    finishOidcLogin: () => aConsoleSignIn(world.nobody),
    exchangeSignInCode: async () => ({ body: { code: await aSignInCode(world.nobody) } }),
    refresh: async () => ({ body: { refresh_token: (await world.signIn()).refresh_token } }),
    logout: async () => ({}),
    connectProgram: async () => ({
      body: { challenge: challengeOf('v'.repeat(43)) },
      headers: { ...OF_CONSOLE, Cookie: cookieIn(await world.nobody.post(SESSION, TEMPORARY_ADMIN, OF_CONSOLE)) },
    }),
    openBrowserSession: async () => ({ body: TEMPORARY_ADMIN, headers: OF_CONSOLE }),
    endBrowserSession: async () => ({}),
    endOwnSessions: async () => ({}),
    endOwnSession: async () => ({ path: `/api/v1/auth/sessions/${await idOfLastSession()}` }),
    acceptInvitation: async () => ({
      body: { code: await invite(await aUserWithoutPassword()), password: PASSWORD },
    }),
    changeOwnPassword: async () => ({
      body: { current_password: PASSWORD, new_password: 'another good password of the person' },
    }),
    syncCatalog: async () => ({ body: {} }),
    importBundle: async () => ({
      path: '/api/v1/catalog/bundle?force=true',
      body: aBundle({ templates: [aTemplate()] }),
      headers: { 'Content-Type': 'application/gzip' },
    }),
    createUser: async () => ({
      body: { email: `${randomUUID()}@example.test`, role: 'viewer', password: 'a good password of somebody new' },
    }),
    updateUser: () => aUserAt({ body: { name: 'another name' } }),
    deleteUser: () => aUserAt(),
    inviteUser: async () => ({ path: `/api/v1/users/${await aUserWithoutPassword()}/invitation` }),
    withdrawInvitation: async () => {
      const id = await aUserWithoutPassword();
      await invite(id);
      return { path: `/api/v1/users/${id}/invitation` };
    },
    createToken: async () => ({ body: { name: 'new', role: 'viewer' } }),
    reissueToken: () => aTokenAt('/reissue'),
    revokeToken: () => aTokenAt(''),
    setOidcSettings: async () => ({ body: { default_role: 'viewer' } }),
    setApprovalSettings: async () => ({ body: { approval: 'none' } }),
    resetOidcSettings: async () => ({}),
    testOidcSettings: async () => ({ body: {} }),
    setHubSettings: async () => ({ body: { sync_interval: 60 } }),
    resetHubSettings: async () => ({}),
    testHubSettings: async () => ({ body: {} }),
    ...changingTrust(world),
    ...changingWebhooks(world),
    ...changingSources(world),
    runDoctor: async () => ({}),
    createSupportBundle: async () => ({}),
    ...changingResources(world),
  };
};

/** The complete request. @throws for an endpoint without a request here */
export async function changingRequest(
  world: World,
  operation: Operation,
): Promise<ApiRequest & { readonly done: number }> {
  const make = changingRequests(world)[operation];
  if (!make) throw new Error(`${operation} may change something, but has no request in ${import.meta.filename}`);
  const { method, path, status }: Endpoint = fleetEndpoints[operation];
  return { path, ...(await make()), method: method.toUpperCase(), done: status };
}
