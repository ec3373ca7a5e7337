import { registryHost } from '@svc/contract';
import type { Sealer } from '@svc/database';
import { invalid } from '@svc/http';
import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import { keyPairErrors, refuseFieldErrors } from './field-errors.ts';
import { type Kind, presentCommon, resourceRow } from './kind.ts';
import { purposesOf, secretScope } from './secret-uses.ts';

export type Values = Readonly<Record<string, string>>;

const KEYS = { registry: ['username', 'password'], tls: ['tls.crt', 'tls.key'] } as const;

/** Validates the values of a secret of a kind. @throws 400 */
export function refuseBadValues(kind: SecretRow['kind'], values: Values): void {
  if (kind === 'opaque') return;
  const required: readonly string[] = KEYS[kind];
  const given = Object.keys(values);
  if (given.length !== required.length || required.some((key) => !given.includes(key))) {
    throw invalid([
      { path: 'values', message: `must have exactly the keys ${required.join(' and ')} in a secret of kind ${kind}` },
    ]);
  }
  if (kind !== 'tls') return;
  const [certificate = '', key = ''] = required.map((name) => values[name]);
  refuseFieldErrors(keyPairErrors({ path: 'values.tls.crt', pem: certificate }, { path: 'values.tls.key', pem: key }));
}

/**
 * The registry that a member `server` names; undefined if it is not given. @throws 400 for a secret
 * of another kind
 */
export function registryOfSecret(kind: SecretRow['kind'], server: string | null | undefined): string | undefined {
  if (server === undefined || server === null) return undefined;
  if (kind === 'registry') return registryHost({ registry_url: server });
  throw invalid([{ path: 'server', message: 'must be given only for kind registry' }]);
}

const locationOf = (row: string) => ({ table: 'secrets', column: 'sealed', row });

/** The stored form of values: they are encrypted, and their keys are in plain text. */
export async function sealValues(sealer: Sealer, id: string, values: Values) {
  const sealed = await sealer.seal(locationOf(id), JSON.stringify(values));
  return { sealed, key_id: sealer.kid, keys: Object.keys(values).sort() };
}

/** The secrets with these names, with their values. The values must go to engines only. */
export async function openValues(
  transaction: Pick<Prisma.TransactionClient, 'secret'>,
  sealer: Sealer,
  names: readonly string[],
): Promise<{ name: string; version: number; server: string | null; values: Values }[]> {
  if (names.length === 0) return [];
  const rows = await transaction.secret.findMany({ where: { name: { in: [...names] } } });
  return Promise.all(
    rows.map(async ({ id, name, sealed, values_version, server }) => ({
      name,
      server,
      version: values_version,
      values: z.record(z.string(), z.string()).parse(JSON.parse(await sealer.open(locationOf(id), sealed))),
    })),
  );
}

const secretRow = resourceRow.extend({
  ...secretScope.shape,
  server: z.string().nullable(),
  keys: z.array(z.string()),
  values_version: z.int(),
  last_rotated_at: z.date(),
  used_by: z.array(z.object({ kind: z.enum(['workload', 'deployment']), id: z.string(), name: z.string() })),
});
export type SecretRow = z.output<typeof secretRow>;

/**
 * A workload uses the secrets that its latest revision names, a deployment those that its own
 * revision names or to which it binds variables.
 */
export const secrets: Kind<SecretRow> = {
  table: 'secrets',
  row: secretRow,
  columns: Prisma.sql`r.kind::text, r.server, coalesce(r.purposes, '{}') AS purposes, r.workloads, r.keys, r.values_version, r.last_rotated_at,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('kind', u.kind, 'id', u.id, 'name', u.name) ORDER BY u.kind, u.name), '[]') FROM (
      SELECT 'workload' AS kind, w.id, w.name FROM workload_revisions v
        JOIN workloads w ON w.id = v.workload_id AND w.revision = v.revision WHERE v.secret_names @> ARRAY[r.name]
      UNION ALL
      SELECT 'deployment', d.id, d.name FROM workload_revisions v
        JOIN deployments d ON d.workload_id = v.workload_id AND d.revision = v.revision WHERE v.secret_names @> ARRAY[r.name]
      UNION
      SELECT 'deployment', d.id, d.name FROM deployments d WHERE d.bindings @> ARRAY['secret/' || r.name]
    ) u) AS used_by`,
};

/** The representation of a secret in the API, without its values. */
export const presentSecret = (row: SecretRow) => ({
  ...presentCommon(row),
  kind: row.kind,
  server: row.server,
  needs_server: row.kind === 'registry' && row.server === null,
  purposes: purposesOf(row),
  workloads: row.workloads,
  keys: row.keys,
  values_version: row.values_version,
  last_rotated_at: row.last_rotated_at,
  used_by: row.used_by,
});
