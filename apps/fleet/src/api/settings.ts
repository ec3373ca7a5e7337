import { isSecretToken } from '@svc/auth';
import { codedMessages } from '@svc/contract';
import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid, Problem, pickDefined } from '@svc/http';
import { reasonOf } from '../catalog/hub.ts';
import type { Database } from '../database/client.ts';
import { countApprovers } from '../identity/approvals.ts';
import { secretRequiredAgain } from '../identity/outbound-targets.ts';
import { hasClaim } from '../identity/users.ts';
import { readApproval, writeApproval } from '../settings/approvals.ts';
import {
  deleteStored,
  type HubInEffect,
  type HubValues,
  hubInEffect,
  type OidcInEffect,
  type OidcValues,
  oidcInEffect,
  presentHub,
  presentOidc,
  readStored,
  type SettingName,
  type Stored,
  writeStored,
} from '../settings/values.ts';
import { type ChangeContext, changeRoute } from './request/change.ts';
import { route } from './request/context.ts';

type Change<V> = { readonly [K in keyof V]?: V[K] | undefined };

const OIDC = [
  'issuer',
  'client_id',
  'audience',
  'role_claim',
  'role_map',
  'default_role',
  'allow_userinfo',
] as const satisfies readonly (keyof OidcValues)[];

/**
 * The stored settings after a change of the provider. @throws 400 if the issuer changes and the
 * client secret is not given again
 */
export function changeOidc(
  before: Stored<OidcValues>,
  body: Change<OidcValues> & { readonly client_secret?: string | null | undefined },
  inEffect: OidcInEffect,
): Stored<OidcValues> {
  const issuer = body.issuer ?? inEffect.issuer;
  const { client_secret } = body;
  if (issuer !== inEffect.issuer && client_secret === undefined && inEffect.client_secret !== undefined) {
    throw secretRequiredAgain('client_secret', 'issuer', ', or as null for a client without a secret,');
  }
  if (client_secret !== undefined && issuer === null)
    throw invalid([{ path: 'issuer', message: codedMessages.client_secret_without_issuer }]);
  return {
    values: { ...before.values, ...pickDefined(body, OIDC) },
    secret: client_secret === undefined ? before.secret : { value: client_secret, address: issuer ?? '' },
  };
}

/**
 * The stored settings after a change of the hub. @throws 400 if the URL changes and the API key is
 * not given again
 */
export function changeHub(
  before: Stored<HubValues>,
  body: Change<HubValues> & { readonly api_key?: string | undefined },
  inEffect: HubInEffect,
): Stored<HubValues> {
  const url = body.url ?? inEffect.url;
  const { api_key } = body;
  if (url !== inEffect.url && api_key === undefined) throw secretRequiredAgain('api_key', 'url');
  if (api_key !== undefined && !isSecretToken('svcc_', api_key)) {
    throw invalid([
      { path: 'api_key', message: 'must be a complete API key of the hub: svcc_ followed by 49 characters' },
    ]);
  }
  if (api_key !== undefined && url === null) throw invalid([{ path: 'url', message: codedMessages.key_without_hub }]);
  return {
    values: { ...before.values, ...pickDefined(body, ['url', 'sync_interval']) },
    secret: api_key === undefined ? before.secret : { value: api_key, address: url ?? '' },
  };
}

export const getOidcSettings = route(fleetEndpoints.getOidcSettings, async ({ settings }) =>
  presentOidc(await settings.oidc()),
);

export const setOidcSettings = changeRoute(fleetEndpoints.setOidcSettings, async (context, { body }) => {
  const { transaction, settings, providers } = context;
  const { oidc } = settings.environment;
  const before = await lockStored<OidcValues>(context, 'oidc');
  const after = changeOidc(before, body, oidcInEffect(oidc, before));
  const inEffect = oidcInEffect(oidc, after);
  if (body.issuer !== undefined) refuseTarget('issuer', providers.refusalOf(inEffect));
  await writeStored(transaction, settings.sealer, { name: 'oidc', ...after });
  return presentOidc(inEffect);
});

export const resetOidcSettings = changeRoute(fleetEndpoints.resetOidcSettings, async ({ transaction, settings }) => {
  await deleteStored(transaction, 'oidc');
  return presentOidc(oidcInEffect(settings.environment.oidc, { values: {}, secret: undefined }));
});

export const testOidcSettings = route(
  fleetEndpoints.testOidcSettings,
  async ({ database, settings, providers }, { body }) => {
    const before = await readStored<OidcValues>(database.client, settings.sealer, 'oidc');
    const { oidc } = settings.environment;
    const inEffect = oidcInEffect(oidc, changeOidc(before, body, oidcInEffect(oidc, before)));
    const provider = providers.of(inEffect);
    if (!provider) throw new Problem('oidc_not_configured', 'An issuer and a client_id are required.');
    const checks = [...(await provider.test()), await checkRoleClaim(database, inEffect)];
    return { ok: checks.every(({ ok }) => ok), checks: checks.map((check) => ({ ...check })) };
  },
);

/** The users whose claims are compared with the settings. */
const CHECKED_USERS = 100;

/** Whether the users of the provider who signed in last have the claim that gives roles. */
async function checkRoleClaim({ client }: Database, { issuer, role_claim }: OidcInEffect) {
  const users = await client.user.findMany({
    where: { source: 'oidc', iss: issuer ?? '', removed_at: null },
    select: { claims: true },
    orderBy: [{ updated_at: 'desc' }, { id: 'desc' }],
    take: CHECKED_USERS,
  });
  const having = users.filter(({ claims }) => hasClaim(claims, role_claim)).length;
  const detail =
    users.length === 0
      ? `No user of the provider has signed in yet, so the claim "${role_claim}" cannot be checked.`
      : `${having} of the ${users.length} users of the provider who signed in last have the claim "${role_claim}".`;
  return { name: 'role_claim', ok: users.length === 0 || having > 0, detail };
}

export const getApprovalSettings = route(
  fleetEndpoints.getApprovalSettings,
  async ({ database: { client }, settings }) => ({
    approval: await readApproval(client),
    approvers: await countApprovers(client, settings),
  }),
);

export const setApprovalSettings = changeRoute(
  fleetEndpoints.setApprovalSettings,
  async ({ transaction, settings }, { body: { approval } }) => {
    await writeApproval(transaction, approval);
    return { approval, approvers: await countApprovers(transaction, settings) };
  },
);

export const getHubSettings = route(fleetEndpoints.getHubSettings, async ({ settings }) =>
  presentHub(await settings.hub()),
);

export const setHubSettings = changeRoute(fleetEndpoints.setHubSettings, async (context, { body }) => {
  const { transaction, settings, hubs } = context;
  const { hub } = settings.environment;
  const before = await lockStored<HubValues>(context, 'hub');
  const after = changeHub(before, body, hubInEffect(hub, before));
  const inEffect = hubInEffect(hub, after);
  if (body.url !== undefined) refuseTarget('url', hubs.refusalOf(inEffect));
  await writeStored(transaction, settings.sealer, { name: 'hub', ...after });
  return presentHub(inEffect);
});

export const resetHubSettings = changeRoute(fleetEndpoints.resetHubSettings, async ({ transaction, settings }) => {
  await deleteStored(transaction, 'hub');
  return presentHub(hubInEffect(settings.environment.hub, { values: {}, secret: undefined }));
});

export const testHubSettings = route(fleetEndpoints.testHubSettings, async (context, { body }) => {
  const { database, settings, hubs, requestId } = context;
  const before = await readStored<HubValues>(database.client, settings.sealer, 'hub');
  const environment = settings.environment.hub;
  const hub = hubs.of(hubInEffect(environment, changeHub(before, body, hubInEffect(environment, before))));
  if (!hub) throw new Problem('hub_not_configured', 'A url and an api_key are required.');
  try {
    return await hub.forRequest(requestId).client.getOwnOrganization();
  } catch (cause) {
    throw new Problem('hub_unreachable', reasonOf(cause), { cause });
  }
});

function refuseTarget(path: string, refusal: string | undefined): void {
  if (refusal !== undefined) throw invalid([{ path, message: refusal }]);
}

/**
 * Reads stored settings under an advisory lock until the end of the transaction, which serializes
 * concurrent changes.
 */
async function lockStored<V extends object>(
  { transaction, settings }: ChangeContext,
  name: SettingName,
): Promise<Stored<V>> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext(${`settings ${name}`}))`;
  return readStored<V>(transaction, settings.sealer, name);
}
