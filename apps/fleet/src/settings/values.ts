import { displayPrefix } from '@svc/auth';
import type { FleetRole } from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';

export type SettingName = 'oidc' | 'hub';

/**
 * A secret, and the address for which it was set. It is never sent to another address. `null`: no
 * secret for this address.
 */
const secret = z.object({ value: z.string().nullable(), address: z.string() });
type StoredSecret = z.output<typeof secret>;

/** The settings that were set through the API. */
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
  const opened = row.sealed === null ? undefined : await sealer.open(locationOf(name), row.sealed);
  return {
    values: row.values as Partial<V>, // `writeStored` writes it from a validated body
    secret: opened === undefined ? undefined : secret.parse(JSON.parse(opened)),
  };
}

export async function writeStored<V extends object>(
  client: Client,
  sealer: Sealer,
  { name, values, secret: given }: Stored<V> & { readonly name: SettingName },
): Promise<void> {
  const sealed = given === undefined ? null : await sealer.seal(locationOf(name), JSON.stringify(given));
  const data = {
    // The schema of the contract accepted the values as JSON.
    values: values as Prisma.InputJsonObject,
    sealed,
    key_id: sealed && sealer.kid,
    updated_at: new Date(),
  };
  await client.setting.upsert({ where: { name }, create: { name, ...data }, update: data });
}

export const deleteStored = async (client: Client, name: SettingName): Promise<void> => {
  await client.setting.deleteMany({ where: { name } });
};

const locationOf = (name: SettingName) => ({ table: 'settings', column: 'sealed', row: name });

/** The source of a value in effect. */
type Source = 'environment' | 'set' | 'default';

/**
 * The values in effect: values from the API override the environment, which overrides the defaults.
 */
interface Layered<V> {
  readonly values: V;
  readonly sources: { readonly [K in keyof V]: Source };
}

/** A part of the values. */
type PartialValues<V> = { readonly [K in keyof V]?: V[K] | undefined };

function layer<V extends object>(defaults: V, environment: PartialValues<V>, set: PartialValues<V>): Layered<V> {
  // Object.keys loses the names of the members.
  const names = Object.keys(defaults) as (keyof V)[];
  const sourceOf = (name: keyof V): Source =>
    set[name] !== undefined ? 'set' : environment[name] !== undefined ? 'environment' : 'default';
  return {
    // Object.fromEntries loses the names of the members.
    values: Object.fromEntries(
      names.map((name) => [name, set[name] ?? (set[name] === null ? null : environment[name]) ?? defaults[name]]),
    ) as V,
    // Object.fromEntries loses the names of the members.
    sources: Object.fromEntries(names.map((name) => [name, sourceOf(name)])) as Layered<V>['sources'],
  };
}

/** The address in effect, and the address in the environment. */
interface Addresses {
  readonly inEffect: string | null;
  readonly ofEnvironment: string | undefined;
}

/**
 * The secret for the address in effect. A secret from the API is used only for the address for
 * which it was set, and a secret from the environment only for the address in the environment.
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

/** The settings for sign-in with an identity provider, and the mapping of its users to roles. */
export interface OidcValues {
  readonly issuer: string | null;
  readonly client_id: string | null;
  /** The required audience of access tokens of the provider; without it, none are accepted. */
  readonly audience: string | null;
  readonly role_claim: string;
  readonly role_map: Readonly<Record<string, FleetRole>> | null;
  readonly default_role: 'viewer' | 'none';
  readonly allow_userinfo: boolean;
}

export type OidcEnvironment = PartialValues<OidcValues & { readonly client_secret: string }>;

export const oidcDefaults: OidcValues = {
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
  /** Whether the issuer comes from the environment, which the operator controls. */
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

/** The settings of the hub from which the catalog is mirrored. */
export interface HubValues {
  readonly url: string | null;
  /** Seconds; 0: only on demand. */
  readonly sync_interval: number;
}

export type HubEnvironment = PartialValues<HubValues & { readonly api_key: string }>;

export const hubDefaults: HubValues = { url: null, sync_interval: 300 };

export interface HubInEffect extends HubValues {
  readonly api_key: string | undefined;
  readonly sources: Layered<HubValues>['sources'] & { readonly api_key: Source };
  /** Whether the address comes from the environment, which the operator controls. */
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
  api_key_prefix: api_key === undefined ? null : displayPrefix(api_key),
  sources,
});
