import { shownPrefix } from '@svc/auth';
import type { FleetRole } from '@svc/contract/fleet';
import { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Sealer } from '../sealing.ts';

export type SettingName = 'oidc' | 'hub';

/** A secret, and the address that it was given for: it never goes to another one. `null`: there is none for it. */
const secret = z.object({ value: z.string().nullable(), address: z.string() });
type StoredSecret = z.output<typeof secret>;

/** What was set while the fleet ran. */
export interface Stored<V extends object> {
  readonly values: Partial<V>;
  readonly secret: StoredSecret | undefined;
}

type Client = Pick<Prisma.TransactionClient, 'setting'>;

export async function readStored<V extends object>(
  client: Client,
  sealer: Sealer,
  name: SettingName,
): Promise<Stored<V>> {
  const row = await client.setting.findUnique({ where: { name } });
  if (!row) return { values: {}, secret: undefined };
  const opened = row.sealed === null ? undefined : await sealer.open(placeOf(name), row.sealed);
  return {
    values: row.values as Partial<V>, // written below, by a body that its contract let in
    secret: opened === undefined ? undefined : secret.parse(JSON.parse(opened)),
  };
}

export async function writeStored<V extends object>(
  client: Client,
  sealer: Sealer,
  { name, values, secret: given }: Stored<V> & { readonly name: SettingName },
): Promise<void> {
  const sealed = given === undefined ? null : await sealer.seal(placeOf(name), JSON.stringify(given));
  const data = {
    values: values as Prisma.InputJsonObject,
    sealed,
    sealed_with: sealed && sealer.kid,
    updated_at: new Date(),
  };
  await client.setting.upsert({ where: { name }, create: { name, ...data }, update: data });
}

export const forgetStored = async (client: Client, name: SettingName): Promise<void> => {
  await client.setting.deleteMany({ where: { name } });
};

const placeOf = (name: SettingName) => ({ table: 'settings', column: 'sealed', row: name });

/** Where a value in effect comes from. */
type Source = 'environment' | 'set' | 'default';

/** What is in effect: what was set, over the environment, over what is so by default. */
interface Layered<V> {
  readonly values: V;
  readonly sources: { readonly [K in keyof V]: Source };
}

/** Some of the values. */
type Some<V> = { readonly [K in keyof V]?: V[K] | undefined };

function layer<V extends object>(defaults: V, environment: Some<V>, set: Some<V>): Layered<V> {
  const names = Object.keys(defaults) as (keyof V)[];
  const sourceOf = (name: keyof V): Source =>
    set[name] !== undefined ? 'set' : environment[name] !== undefined ? 'environment' : 'default';
  return {
    values: Object.fromEntries(
      names.map((name) => [name, set[name] ?? (set[name] === null ? null : environment[name]) ?? defaults[name]]),
    ) as V,
    sources: Object.fromEntries(names.map((name) => [name, sourceOf(name)])) as Layered<V>['sources'],
  };
}

/** The address that something in effect goes to, and the one of the environment. */
interface Addresses {
  readonly inEffect: string | null;
  readonly ofEnvironment: string | undefined;
}

/**
 * The secret in effect, for the address in effect only: one that was set goes where it was set for, the environment's
 * where the environment says.
 */
function secretFor(
  { inEffect, ofEnvironment }: Addresses,
  stored: Stored<object>['secret'],
  fromEnvironment: string | undefined,
): { readonly value: string | undefined; readonly source: Source } {
  if (stored) {
    const value = stored.address === inEffect ? (stored.value ?? undefined) : undefined;
    return { value, source: 'set' };
  }
  const value = inEffect !== null && inEffect === ofEnvironment ? fromEnvironment : undefined;
  return { value, source: value === undefined ? 'default' : 'environment' };
}

/** How people of an identity provider sign in, and what they may. */
export interface OidcValues {
  readonly issuer: string | null;
  readonly client_id: string | null;
  /** Of access tokens of the provider; without one none is accepted. */
  readonly audience: string | null;
  readonly role_claim: string;
  readonly role_map: Readonly<Record<string, FleetRole>> | null;
  readonly default_role: 'viewer' | 'none';
  readonly allow_userinfo: boolean;
}

export type OidcEnvironment = Some<OidcValues & { readonly client_secret: string }>;

const oidcDefaults: OidcValues = {
  issuer: null,
  client_id: null,
  audience: null,
  role_claim: 'role',
  role_map: null,
  default_role: 'none',
  allow_userinfo: false,
};

export interface OidcInEffect extends OidcValues {
  readonly client_secret: string | undefined;
  readonly sources: Layered<OidcValues>['sources'] & { readonly client_secret: Source };
  /** The issuer is the environment's: the operator's word. */
  readonly isTrusted: boolean;
}

export function oidcInEffect(environment: OidcEnvironment, { values: set, secret }: Stored<OidcValues>): OidcInEffect {
  const { client_secret, ...fromEnvironment } = environment;
  const { values, sources } = layer(oidcDefaults, fromEnvironment, set);
  const addresses = { inEffect: values.issuer, ofEnvironment: environment.issuer ?? undefined };
  const { value, source } = secretFor(addresses, secret, client_secret);
  return {
    ...values,
    client_secret: value,
    sources: { ...sources, client_secret: source },
    isTrusted: values.issuer === environment.issuer,
  };
}

export const presentOidc = ({ client_secret, isTrusted: _, ...shown }: OidcInEffect) => ({
  ...shown,
  role_map: shown.role_map && { ...shown.role_map },
  has_client_secret: client_secret !== undefined,
});

/** Which hub the catalog comes from. */
export interface HubValues {
  readonly url: string | null;
  /** Seconds; 0: only on demand. */
  readonly sync_interval: number;
}

export type HubEnvironment = Some<HubValues & { readonly api_key: string }>;

const hubDefaults: HubValues = { url: null, sync_interval: 300 };

export interface HubInEffect extends HubValues {
  readonly api_key: string | undefined;
  readonly sources: Layered<HubValues>['sources'] & { readonly api_key: Source };
  /** The address is the environment's: the operator's word. */
  readonly isTrusted: boolean;
}

export function hubInEffect(environment: HubEnvironment, { values: set, secret }: Stored<HubValues>): HubInEffect {
  const { api_key, ...fromEnvironment } = environment;
  const { values, sources } = layer(hubDefaults, fromEnvironment, set);
  const addresses = { inEffect: values.url, ofEnvironment: environment.url ?? undefined };
  const { value, source } = secretFor(addresses, secret, api_key);
  return {
    ...values,
    api_key: value,
    sources: { ...sources, api_key: source },
    isTrusted: values.url === environment.url,
  };
}

export const presentHub = ({ url, sync_interval, api_key, sources }: HubInEffect) => ({
  url,
  sync_interval,
  api_key_prefix: api_key === undefined ? null : shownPrefix(api_key),
  sources,
});
