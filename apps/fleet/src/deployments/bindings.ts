import type { WorkloadSpec } from '@svc/contract/fleet';
import { Prisma } from '../generated/prisma/client.ts';
import { compareStrings } from '../placement/format.ts';
import { type ResolvedEnv, referencesOf, type StoredEnv, type StoredValue } from '../render/env.ts';
import { isAddress, piecesOf } from '../render/references.ts';
import type { BoundValue, ComposedVariable } from '../render/rendering.ts';
import { SEALED_KEY, sealedName } from '../render/secrets.ts';
import type { Dependent } from '../resources/field-errors.ts';
import { referencesIn } from '../resources/references.ts';
import { NOTHING_PENDING, type Pending } from './plans/pending.ts';
import type { Refusal } from './refusals.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;

/** The entry of a secret in the column `bindings`. */
export const secretBinding = (name: string): string => `secret/${name}`;

const deploymentBinding = (name: string): string => `deployment/${name}`;

/** The column `bindings` of a deployment with these variables. */
export const bindingsOf = (env: StoredEnv): string[] => [
  ...new Set(
    Object.values(env)
      .flatMap((value) => referencesOf(value))
      .flatMap(([, reference]) => {
        if ('application' in reference) return []; // its parts are deleted with it
        return 'secret' in reference ? secretBinding(reference.secret) : deploymentBinding(reference.deployment);
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
export type BoundVariable = BoundValue;

interface Binder {
  readonly name: string;
  readonly env: StoredEnv;
}

/** To what the variables of a deployment are bound. */
export interface Bound {
  readonly bound: BoundVariable[];
  readonly composed: ComposedVariable[];
}

/** Reads to which secrets and sealed values variables are bound, with the reasons against it. */
export async function readBound(
  reader: Reader,
  binder: Binder,
  bindings: ResolvedEnv['bindings'],
  pending: Pending = NOTHING_PENDING,
): Promise<Bound & { readonly refusals: Refusal[] }> {
  const sources = bindings.flatMap(sourcesOf);
  const ofOthers = sources.flatMap(({ source, ...where }) => ('variable' in source ? [{ ...where, ...source }] : []));
  const found = await readValuesOfDeployments(reader, binder, ofOthers, pending);
  const bound: BoundVariable[] = [];
  const refusals: Refusal[] = [];
  for (const { env, placeholder, source } of sources) {
    const where = { env, ...(placeholder !== undefined && { placeholder }) };
    if ('secret' in source) {
      bound.push({ name: source.secret, ...where, ...(source.key !== undefined && { key: source.key }) });
      continue;
    }
    const value =
      'variable' in source ? found.get(keyOfBinding(where)) : { id: 'id' in source ? source.id : source.sealed };
    if (value && 'id' in value) bound.push({ name: sealedName(value.id), key: SEALED_KEY, ...where });
    else if (value) refusals.push({ code: 'invalid_env', path: `env.${env}`, message: value.reason });
  }
  const composed = bindings.flatMap(({ env, source }) =>
    'compose' in source ? [{ env, pieces: piecesOf(source) }] : [],
  );
  return { bound, composed, refusals };
}

/** A variable, or the placeholder in its composed value. */
interface Place {
  readonly env: string;
  readonly placeholder?: string | undefined;
}

const keyOfBinding = ({ env, placeholder = '' }: Place): string => `${env} ${placeholder}`;

type SingleSource = Exclude<ResolvedEnv['bindings'][number]['source'], { readonly compose: string }>;

/** The source of a variable, or those of the placeholders in its composed value. */
function sourcesOf({ env, source }: ResolvedEnv['bindings'][number]): (Place & { readonly source: SingleSource })[] {
  if (!('compose' in source)) return [{ env, source }];
  return Object.entries(source.with).flatMap(([placeholder, reference]) =>
    isAddress(reference) ? [] : [{ env, placeholder, source: reference }],
  );
}

interface Wanted extends Place {
  readonly deployment: string;
  readonly variable: string;
}

/** The sealed value of a variable of another deployment, or the reason why there is none. */
type Found = { readonly id: string } | { readonly reason: string };

/** The variable in an environment, without inherited members. */
const ownValue = (env: StoredEnv, variable: string): StoredValue | undefined =>
  Object.hasOwn(env, variable) ? env[variable] : undefined;

const pendingNamed = (pending: Pending, name: string) => pending.find((deployment) => deployment.name === name);

interface OwnerRow {
  readonly ordinal: number;
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
  pending: Pending,
): Promise<ReadonlyMap<string, Found>> {
  if (wanted.length === 0) return new Map();
  const rows = await reader.$queryRaw<OwnerRow[]>`
    SELECT w.ordinal, d.deleting, coalesce(d.env->w.variable->>'id', d.env->w.variable->>'sealed') AS id
    FROM jsonb_to_recordset(${JSON.stringify(wanted.map((each, ordinal) => ({ ...each, ordinal })))}::jsonb)
      AS w(ordinal int, deployment text, variable text)
    JOIN deployments d ON d.name = w.deployment`;
  return new Map(
    wanted.map((binding, ordinal) => {
      const stored = rows.find((each) => each.ordinal === ordinal);
      const planned =
        binding.deployment === name ? { env, deleting: false } : pendingNamed(pending, binding.deployment);
      const row = planned && { ...planned, id: sealedIdOf(ownValue(planned.env, binding.variable)) ?? null };
      return [keyOfBinding(binding), foundIn(binding, row ?? stored)];
    }),
  );
}

function foundIn({ deployment, variable }: Wanted, row: Omit<OwnerRow, 'ordinal'> | undefined): Found {
  if (!row) return { reason: `names the deployment ${deployment}, which does not exist` };
  if (row.deleting) return { reason: `names the deployment ${deployment}, which is being deleted` };
  if (row.id !== null) return { id: row.id };
  return { reason: `names the variable ${variable} of the deployment ${deployment}, which has no generated value` };
}

/** What another deployment binds of a deployment: the value of a variable, or the address of a port. */
interface DependentVariable extends Dependent {
  readonly id: string;
  readonly variable: string | null;
  readonly port: number | null;
}

/**
 * The other deployments that bind values or addresses of a deployment. A deployment that is being
 * deleted no longer needs them.
 */
export async function readDependents(
  reader: Reader,
  { id, name }: { readonly id: string; readonly name: string },
  pending: Pending = NOTHING_PENDING,
): Promise<DependentVariable[]> {
  const rows = await reader.$queryRaw<Omit<DependentVariable, 'kind'>[]>`
    SELECT DISTINCT d.id, d.name, e.value->>'variable' AS variable, (e.value->>'port')::int AS port
    FROM deployments d, ${referencesIn(Prisma.sql`d.env`)} e
    WHERE d.bindings @> ARRAY[${deploymentBinding(name)}] AND e.value->>'deployment' = ${name}
      AND d.id <> ${id}::uuid AND NOT d.deleting ORDER BY d.name`;
  const planned = pending
    .filter((each) => !each.deleting && each.id !== id)
    .flatMap((each) => boundOf(each.env, name).map((what) => ({ id: each.id, name: each.name, ...what })));
  const isPlanned = (row: { readonly id: string }) => pending.some((each) => each.id === row.id);
  return [...rows.filter((row) => !isPlanned(row)), ...planned]
    .toSorted((one, other) => compareStrings(one.name, other.name))
    .map((row) => ({ kind: 'deployment', ...row }));
}

type WhatIsBound = Pick<DependentVariable, 'variable' | 'port'>;

/** What an environment binds of a deployment. */
const boundOf = (env: StoredEnv, deployment: string): WhatIsBound[] =>
  Object.values(env)
    .flatMap((value) => referencesOf(value))
    .flatMap(([, reference]): WhatIsBound[] => {
      if (!('deployment' in reference) || reference.deployment !== deployment) return [];
      return isAddress(reference)
        ? [{ variable: null, port: reference.port }]
        : [{ variable: reference.variable, port: null }];
    });

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

interface ChangedOwner {
  readonly id: string;
  readonly name: string;
  readonly env: StoredEnv;
  readonly workload: { readonly spec: Pick<WorkloadSpec, 'ports'> };
}

/** A change must not remove a value or a port that other deployments bind. */
export async function refusalsOfDependents(
  reader: Reader,
  owner: ChangedOwner,
  pending: Pending = NOTHING_PENDING,
): Promise<Refusal[]> {
  const declared = owner.workload.spec.ports.map(({ containerPort }) => containerPort);
  return (await readDependents(reader, owner, pending)).flatMap(({ name, variable, port }): Refusal[] => {
    if (port !== null) {
      if (declared.includes(port)) return [];
      const message = `must have the port ${port}, because the deployment ${name} is bound to its address`;
      return [{ code: 'deployment_refused', path: 'revision', message }];
    }
    if (variable === null || sealedIdOf(owner.env[variable]) !== undefined) return [];
    const message = `must keep its generated value, because the deployment ${name} is bound to it`;
    return [{ code: 'invalid_env', path: `env.${variable}`, message }];
  });
}
