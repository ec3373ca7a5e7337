import type { WorkloadSpec } from '@svc/contract/fleet';
import { Prisma } from '../generated/prisma/client.ts';
import type { ResolvedEnv, StoredEnv, StoredValue } from '../render/env.ts';
import { SEALED_KEY, sealedName } from '../render/secrets.ts';
import type { Dependent } from '../resources/field-errors.ts';
import type { Refusal } from './refusals.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** The entry of a secret in the column `bindings`. */
export const secretBinding = (name: string): string => `secret/${name}`;

const deploymentBinding = (name: string): string => `deployment/${name}`;

/** The column `bindings` of a deployment with these variables. */
export const bindingsOf = (env: StoredEnv): string[] => [
  ...new Set(
    Object.values(env).flatMap((value) => {
      if (typeof value === 'string') return [];
      if ('secret' in value) return [secretBinding(value.secret)];
      return 'deployment' in value ? [deploymentBinding(value.deployment)] : [];
    }),
  ),
];

/** The id of the sealed value of a variable. */
export function sealedIdOf(value: StoredValue | undefined): string | undefined {
  if (typeof value !== 'object') return undefined;
  if ('id' in value) return value.id;
  return 'sealed' in value ? value.sealed : undefined;
}

/** A reference to a secret or a sealed value, and the variable that receives its value. */
export type BoundVariable = WorkloadSpec['secret_refs'][number];

interface Binder {
  readonly name: string;
  readonly env: StoredEnv;
}

/** Reads to which secrets and sealed values variables are bound, with the reasons against it. */
export async function readBound(
  reader: Reader,
  binder: Binder,
  bindings: ResolvedEnv['bindings'],
): Promise<{ readonly bound: BoundVariable[]; readonly refusals: Refusal[] }> {
  const ofOthers = bindings.flatMap(({ env, source }) => ('deployment' in source ? [{ env, ...source }] : []));
  const found = await readValuesOfDeployments(reader, binder, ofOthers);
  const bound: BoundVariable[] = [];
  const refusals: Refusal[] = [];
  for (const { env, source } of bindings) {
    if ('secret' in source) {
      bound.push({ name: source.secret, env, ...(source.key !== undefined && { key: source.key }) });
      continue;
    }
    const value = 'deployment' in source ? found.get(env) : { id: 'id' in source ? source.id : source.sealed };
    if (value && 'id' in value) bound.push({ name: sealedName(value.id), key: SEALED_KEY, env });
    else if (value) refusals.push({ code: 'invalid_env', path: `env.${env}`, message: value.reason });
  }
  return { bound, refusals };
}

interface Wanted {
  readonly env: string;
  readonly deployment: string;
  readonly variable: string;
}

/** The sealed value of a variable of another deployment, or the reason why there is none. */
type Found = { readonly id: string } | { readonly reason: string };

interface OwnerRow {
  readonly env: string;
  readonly deleting: boolean;
  readonly id: string | null;
}

/**
 * The sealed values that variables of other deployments have. A deployment can also refer to its
 * own variables.
 */
async function readValuesOfDeployments(
  reader: Reader,
  { name, env }: Binder,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<string, Found>> {
  if (wanted.length === 0) return new Map();
  const rows = await reader.$queryRaw<OwnerRow[]>`
    SELECT w.env, d.deleting, coalesce(d.env->w.variable->>'id', d.env->w.variable->>'sealed') AS id
    FROM jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) AS w(env text, deployment text, variable text)
    JOIN deployments d ON d.name = w.deployment`;
  return new Map(
    wanted.map((binding) => {
      const row = rows.find((each) => each.env === binding.env);
      const own = { ...binding, deleting: false, id: sealedIdOf(env[binding.variable]) ?? null };
      return [binding.env, foundIn(binding, binding.deployment === name ? own : row)];
    }),
  );
}

function foundIn({ deployment, variable }: Wanted, row: OwnerRow | undefined): Found {
  if (!row) return { reason: `names the deployment ${deployment}, which does not exist` };
  if (row.deleting) return { reason: `names the deployment ${deployment}, which is being deleted` };
  if (row.id !== null) return { id: row.id };
  return { reason: `names the variable ${variable} of the deployment ${deployment}, which has no generated value` };
}

interface DependentVariable extends Dependent {
  readonly id: string;
  /** The variable whose value it binds. */
  readonly variable: string;
}

/**
 * The other deployments that bind values of a deployment. A deployment that is being deleted no
 * longer needs them.
 */
export async function readDependents(
  reader: Reader,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<DependentVariable[]> {
  const rows = await reader.$queryRaw<{ id: string; name: string; variable: string }[]>`
    SELECT DISTINCT d.id, d.name, e.value->>'variable' AS variable FROM deployments d, jsonb_each(d.env) e
    WHERE d.bindings @> ARRAY[${deploymentBinding(name)}] AND e.value->>'deployment' = ${name}
      AND d.id <> ${id}::uuid AND NOT d.deleting ORDER BY d.name`;
  return rows.map((row) => ({ kind: 'deployment', ...row }));
}

/** Deployments outside a target that bind values of deployments on it. */
export async function readDependentsOfTarget(
  reader: Reader,
  { host_id, cluster_id }: { readonly host_id: string | null; readonly cluster_id: string | null },
): Promise<Dependent[]> {
  const at = Prisma.sql`host_id = ${host_id}::uuid OR cluster_id = ${cluster_id}::uuid`;
  const rows = await reader.$queryRaw<{ name: string }[]>`
    WITH lost AS (SELECT id, name FROM deployments WHERE ${at})
    SELECT DISTINCT d.name FROM deployments d JOIN lost ON d.bindings @> ARRAY['deployment/' || lost.name]
    WHERE NOT d.deleting AND d.id NOT IN (SELECT id FROM lost) ORDER BY d.name`;
  return rows.map((row) => ({ kind: 'deployment', ...row }));
}

/** A change must not remove a value that other deployments bind. */
export async function refusalsOfDependents(
  reader: Reader,
  owner: { readonly id: string; readonly name: string; readonly env: StoredEnv },
): Promise<Refusal[]> {
  const lost = (await readDependents(reader, owner)).filter(
    ({ variable }) => sealedIdOf(owner.env[variable]) === undefined,
  );
  return lost.map(({ name, variable }) => ({
    code: 'invalid_env',
    path: `env.${variable}`,
    message: `must keep its generated value, because the deployment ${name} is bound to it`,
  }));
}
