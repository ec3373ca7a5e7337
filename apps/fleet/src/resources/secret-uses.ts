import { purposesOfKind, type SecretPurpose } from '@svc/contract/fleet';
import { invalid } from '@svc/http';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { keyOf } from '../render/secrets.ts';
import { referencesIn } from './references.ts';

const purposes = z.array(z.enum(['variables', 'registry', 'private_key']));

/** The columns of a secret that state where its values may go. */
export const secretScope = z.object({
  kind: z.enum(['opaque', 'registry', 'tls']),
  /** Empty for a secret of a version without purposes. */
  purposes,
  /** The names of the only workloads that may use it; null: all. */
  workloads: z.array(z.string()).nullable(),
});
export type SecretScope = z.output<typeof secretScope>;

/**
 * The purposes of a secret. Those that it does not declare are the default of its kind.
 *
 * Delete after 0.3: this default for stored secrets, with a migration that stores it. Version 0.2
 * stores secrets without purposes.
 */
export const purposesOf = ({ kind, purposes }: Pick<SecretScope, 'kind' | 'purposes'>): SecretPurpose[] =>
  purposes.length > 0 ? purposes : purposesOfKind[kind].slice(0, 1);

/** The stored form of given purposes. @throws 400 for purposes that the kind does not have */
export function acceptPurposes(kind: SecretScope['kind'], given: readonly SecretPurpose[]): SecretPurpose[] {
  const possible: readonly SecretPurpose[] = purposesOfKind[kind];
  if (given.every((purpose) => possible.includes(purpose))) {
    return possible.filter((purpose) => given.includes(purpose));
  }
  const reason = kind === 'registry' ? ': credentials of a registry never become variables' : '';
  throw invalid([
    { path: 'purposes', message: `must contain only ${possible.join(' and ')} for kind ${kind}${reason}` },
  ]);
}

/** A use of a secret: a variable receives one of its values, or an image is pulled with it. */
export interface SecretUse {
  /** null: an image is pulled. */
  readonly variable: string | null;
  /** The key that the reference names. */
  readonly key?: string | undefined;
  /** The name of the workload; undefined if it is not known yet. */
  readonly workload: string | undefined;
}

interface UsedSecret extends SecretScope {
  readonly name: string;
  readonly keys: readonly string[];
}

const HOW_TO_PERMIT = 'an admin can permit it with PUT /api/v1/secrets/:id';

/**
 * The reason why a secret must not be used in this way, as the end of a sentence; undefined if it
 * can. The rule for all places in which a secret becomes a variable or pulls an image.
 */
export function problemOfUse(secret: UsedSecret, use: SecretUse): string | undefined {
  return problemOfPurpose(secret, use) ?? problemOfWorkload(secret, use);
}

function problemOfPurpose(secret: UsedSecret, { variable, key }: SecretUse): string | undefined {
  // Whether a secret without this purpose pulls images is the rule of `refusalsOfRegistry`.
  if (variable === null) return undefined;
  const { kind, name, keys } = secret;
  const allowed = purposesOf(secret);
  if (kind === 'registry') {
    return `must not give the secret ${name} to the variable ${variable}, because credentials of a registry never become variables: use a secret of kind opaque with the values that the program needs`;
  }
  const purpose =
    kind === 'tls' && keyOf({ name, env: variable, key }, keys) === 'tls.key' ? 'private_key' : 'variables';
  if (allowed.includes(purpose)) return undefined;
  const what = purpose === 'private_key' ? `the private key of the secret ${name}` : `the secret ${name}`;
  return `must not give ${what} to the variable ${variable}, because the secret does not have the purpose ${purpose}: ${HOW_TO_PERMIT}`;
}

function problemOfWorkload({ name, workloads }: UsedSecret, { workload }: SecretUse): string | undefined {
  if (workloads === null) return undefined;
  if (workload === undefined) {
    return `requires the secret ${name}, which only named workloads may use: give the name of the deployment`;
  }
  if (workloads.includes(workload)) return undefined;
  return `must not use the secret ${name}, because the workload ${workload} is not one of its workloads: ${HOW_TO_PERMIT}`;
}

const storedUse = secretScope.extend({
  name: z.string(),
  keys: z.array(z.string()),
  variable: z.string().nullable(),
  key: z
    .string()
    .nullable()
    .transform((key) => key ?? undefined),
});
export const storedUses = z.array(storedUse);

/** The uses of secrets by a deployment `r`, as `storedUses`, of the secrets `s` with this condition. */
const usesBy = (condition: Prisma.Sql) => Prisma.sql`(
  SELECT coalesce(jsonb_agg(jsonb_build_object('name', s.name, 'kind', s.kind, 'keys', s.keys, 'workloads', s.workloads,
    'purposes', coalesce(s.purposes, '{}'), 'variable', u.variable, 'key', u.key) ORDER BY u.variable, s.name), '[]')
  FROM (
    SELECT ref->>'name' AS name, ref->>'env' AS variable, ref->>'key' AS key
    FROM workload_revisions v, jsonb_array_elements(v.spec->'secret_refs') ref
    WHERE v.workload_id = r.workload_id AND v.revision = r.revision AND v.secret_names <> '{}'
    UNION ALL
    SELECT v.spec->>'registry_credentials', NULL, NULL FROM workload_revisions v
    WHERE v.workload_id = r.workload_id AND v.revision = r.revision AND v.secret_names <> '{}'
    UNION ALL
    SELECT e.value->>'secret', e.key, e.value->>'key' FROM ${referencesIn(Prisma.sql`r.env`)} e WHERE r.bindings <> '{}'
  ) u JOIN secrets s ON s.name = u.name WHERE ${condition})`;

/** The uses of secrets by a deployment `r` that can be outside the purposes of the secrets. */
export const restrictedUses = usesBy(Prisma.sql`s.kind <> 'opaque' OR jsonb_typeof(s.workloads) = 'array'`);

/** The problems of the stored uses of a deployment. */
export const problemsOfUses = (workload: string, uses: z.output<typeof storedUses>): string[] =>
  uses.flatMap((use) => problemOfUse(use, { ...use, workload }) ?? []);

const userRow = z.object({ name: z.string(), workload: z.string(), uses: storedUses });
type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** The deployments that use a secret, with these uses. */
export async function readUsersOf(reader: Reader, { name }: { readonly name: string }) {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT r.name, w.name AS workload, ${usesBy(Prisma.sql`s.name = ${name}`)} AS uses
    FROM deployments r JOIN workloads w ON w.id = r.workload_id
    WHERE r.bindings @> ARRAY['secret/' || ${name}] OR (r.workload_id, r.revision) IN
      (SELECT v.workload_id, v.revision FROM workload_revisions v WHERE v.secret_names @> ARRAY[${name}])
    ORDER BY r.name`;
  return z.array(userRow).parse(rows);
}

/** The deployments with uses of secrets that can be outside the purposes of the secrets. */
export async function readRestrictedUsers(reader: Reader) {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT r.name, r.workload, r.uses FROM (
      SELECT r.name, w.name AS workload, ${restrictedUses} AS uses
      FROM deployments r JOIN workloads w ON w.id = r.workload_id) r
    WHERE r.uses <> '[]' ORDER BY r.name`;
  return z.array(userRow).parse(rows);
}
