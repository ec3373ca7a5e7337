import { fleetEndpoints } from '@svc/contract/fleet';
import { invalid, Problem } from '@svc/http';
import { type ChangeContext, change } from '../audit/change.ts';
import { reasonOf } from '../catalog/hub.ts';
import { route } from '../context.ts';
import { changeHub, changeOidc } from './change.ts';
import { type HubValues, hubInEffect, presentHub } from './hub.ts';
import { type OidcValues, oidcInEffect, presentOidc } from './oidc.ts';
import { forgetStored, readStored, type SettingName, type Stored, writeStored } from './store.ts';

export const getOidcSettings = route(fleetEndpoints.getOidcSettings, async ({ settings }) =>
  presentOidc(await settings.oidc()),
);

export const setOidcSettings = change(fleetEndpoints.setOidcSettings, async (context, { body }) => {
  const { transaction, settings, providers } = context;
  const { oidc } = settings.environment;
  const before = await lockStored<OidcValues>(context, 'oidc');
  const after = changeOidc(before, body, oidcInEffect(oidc, before));
  const inEffect = oidcInEffect(oidc, after);
  if (body.issuer !== undefined) refuseUncalled('issuer', providers.refusalOf(inEffect));
  await writeStored(transaction, settings.sealer, { name: 'oidc', ...after });
  return presentOidc(inEffect);
});

export const resetOidcSettings = change(fleetEndpoints.resetOidcSettings, async ({ transaction, settings }) => {
  await forgetStored(transaction, 'oidc');
  return presentOidc(oidcInEffect(settings.environment.oidc, { values: {}, secret: undefined }));
});

export const testOidcSettings = route(
  fleetEndpoints.testOidcSettings,
  async ({ database, settings, providers }, { body }) => {
    const before = await readStored<OidcValues>(database.client, settings.sealer, 'oidc');
    const { oidc } = settings.environment;
    const provider = providers.of(oidcInEffect(oidc, changeOidc(before, body, oidcInEffect(oidc, before))));
    if (!provider) throw new Problem('oidc_not_configured', 'A provider needs an issuer and a client_id.');
    const checks = await provider.test();
    return { ok: checks.every(({ ok }) => ok), checks: checks.map((check) => ({ ...check })) };
  },
);

export const getHubSettings = route(fleetEndpoints.getHubSettings, async ({ settings }) =>
  presentHub(await settings.hub()),
);

export const setHubSettings = change(fleetEndpoints.setHubSettings, async (context, { body }) => {
  const { transaction, settings, hubs } = context;
  const { hub } = settings.environment;
  const before = await lockStored<HubValues>(context, 'hub');
  const after = changeHub(before, body, hubInEffect(hub, before));
  const inEffect = hubInEffect(hub, after);
  if (body.url !== undefined) refuseUncalled('url', hubs.refusalOf(inEffect));
  await writeStored(transaction, settings.sealer, { name: 'hub', ...after });
  return presentHub(inEffect);
});

export const resetHubSettings = change(fleetEndpoints.resetHubSettings, async ({ transaction, settings }) => {
  await forgetStored(transaction, 'hub');
  return presentHub(hubInEffect(settings.environment.hub, { values: {}, secret: undefined }));
});

export const testHubSettings = route(fleetEndpoints.testHubSettings, async ({ database, settings, hubs }, { body }) => {
  const before = await readStored<HubValues>(database.client, settings.sealer, 'hub');
  const environment = settings.environment.hub;
  const hub = hubs.of(hubInEffect(environment, changeHub(before, body, hubInEffect(environment, before))));
  if (!hub) throw new Problem('hub_not_configured', 'A hub needs a url and an api_key.');
  try {
    return await hub.client.getOwnOrganization();
  } catch (cause) {
    throw new Problem('hub_unreachable', reasonOf(cause), { cause });
  }
});

function refuseUncalled(path: string, refusal: string | undefined): void {
  if (refusal !== undefined) throw invalid([{ path, message: refusal }]);
}

/** What is stored, while nobody else can change it: two changes at once are one after the other. */
async function lockStored<V extends object>(
  { transaction, settings }: ChangeContext,
  name: SettingName,
): Promise<Stored<V>> {
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext(${`settings ${name}`}))`;
  return readStored<V>(transaction, settings.sealer, name);
}
