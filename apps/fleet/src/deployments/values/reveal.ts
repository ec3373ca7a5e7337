import type { GeneratedValue } from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import { notRecorded, Problem } from '@svc/http';
import type { Prisma } from '../../generated/prisma/client.ts';
import { authorOf } from '../../identity/actor.ts';
import type { Principal } from '../../identity/principal.ts';
import type { StoredValue } from '../../render/env.ts';
import { readRow } from '../../resources/kind.ts';
import { openValue } from '../../resources/sealed-values.ts';
import { REVEAL } from '../generations.ts';
import { deployments } from '../rows.ts';
import { readInternalVariables } from './generate.ts';

interface Revealed {
  readonly transaction: Prisma.TransactionClient;
  readonly principal: Principal;
  readonly settings: { readonly sealer: Sealer };
  readonly recording: { objectName: string | undefined };
}

/**
 * Reads the value that the fleet generated for a variable of a deployment, and records an event.
 * The caller is admitted to `values-reveal`.
 * @throws 404; 409 `not_revealable` for any other value; 403 for a value of version 0.2, which only
 * admins can reveal; 429
 */
export async function revealValue(
  { transaction, principal, settings, recording }: Revealed,
  { id, variable }: { readonly id: string; readonly variable: string },
): Promise<GeneratedValue> {
  const deployment = await readRow(transaction, deployments, id);
  recording.objectName = deployment.name;
  const { env, workload_id: workloadId, revision, generation } = deployment;
  const stored = Object.hasOwn(env, variable) ? env[variable] : undefined;
  const sealedId = typeof stored === 'object' && 'generate' in stored ? stored.id : undefined;
  if (sealedId === undefined) throw notRevealable(variable, reasonAgainst(stored));
  const where = { id: sealedId, deployment_id: deployment.id, variable };
  const row = await transaction.sealedValue.findFirst({ where });
  if (!row) throw notRevealable(variable, 'has no generated value');
  const internal = await readInternalVariables(transaction, { workloadId, revision });
  if (row.revealable === false || internal.includes(variable)) {
    throw notRevealable(variable, 'is internal, as its description in the template states: its value is never shown');
  }
  if (row.revealable === null) refuseUnlessAdmin(principal, variable);
  await refuseTooManyReveals(transaction, principal);
  const message = `the value of ${variable} was revealed`;
  await transaction.deploymentEvent.create({
    data: {
      deployment_id: deployment.id,
      kind: 'operation',
      generation,
      reason: REVEAL,
      message,
      actor: authorOf(principal),
    },
  });
  return { name: variable, value: await openValue(settings.sealer, row) };
}

interface Application {
  readonly id: string;
  readonly name: string;
  readonly generation: number;
}

/**
 * Reads a value that the fleet generated for an application, as `revealValue` does for a deployment.
 * @throws 409 `not_revealable` for any other name; 429
 */
export async function revealGenerated(
  { transaction, principal, settings }: Omit<Revealed, 'recording'>,
  { id, name: application, generation }: Application,
  name: string,
): Promise<GeneratedValue> {
  const row = await transaction.sealedValue.findFirst({ where: { application_id: id, variable: name } });
  if (!row)
    throw new Problem('not_revealable', `The application ${application} has no generated value with the name ${name}.`);
  await refuseTooManyReveals(transaction, principal);
  const message = `the value ${name} was revealed`;
  await transaction.applicationEvent.create({
    data: { application_id: id, kind: 'operation', generation, reason: REVEAL, message, actor: authorOf(principal) },
  });
  return { name, value: await openValue(settings.sealer, row) };
}

const notRevealable = (variable: string, reason: string) =>
  new Problem('not_revealable', `The variable ${variable} ${reason}. The fleet shows only values that it generated.`);

/** Why a value is not one that the fleet generated for the variable. */
function reasonAgainst(stored: StoredValue | undefined): string {
  if (stored === undefined) return 'has no value in this deployment';
  if (typeof stored === 'string' || 'value' in stored) return 'has a text, and not a generated value';
  if ('secret' in stored) return `is bound to the secret ${stored.secret}`;
  if ('variable' in stored)
    return `is bound to ${stored.variable} of the deployment ${stored.deployment}: reveal it there`;
  if ('port' in stored) return `has the address of the deployment ${stored.deployment}`;
  if ('application' in stored)
    return `has the value ${stored.generated} of the application ${stored.application}: reveal it there`;
  if ('compose' in stored) return 'is composed of other values';
  return 'has a text that was sealed';
}

/** @throws 403 for a value that was generated when the fleet promised never to show it */
function refuseUnlessAdmin(principal: Principal, variable: string): void {
  if ('role' in principal && principal.role === 'admin') return;
  throw new Problem(
    'insufficient_scope',
    `The value of ${variable} is from version 0.2, which promised never to show it. Only an admin can reveal it.`,
  );
}

/** The values that a caller can reveal within `WINDOW_MINUTES`. */
const MAX_REVEALS = 30;
const WINDOW_MINUTES = 10;

/**
 * Concurrent requests of the caller wait for each other, and each has an audit entry when its
 * transaction ends. @throws 429; 503 if the audit log cannot be read
 */
async function refuseTooManyReveals(transaction: Prisma.TransactionClient, principal: Principal): Promise<void> {
  const actor = authorOf(principal);
  const userId = principal.kind === 'user' ? principal.id : null;
  await transaction.$executeRaw`SELECT pg_advisory_xact_lock(hashtext(${`values revealed by ${actor}`}))`;
  const [oldest] = await transaction.$queryRaw<{ seconds: number }[]>`
    SELECT greatest(ceil(extract(epoch FROM at - now())) + ${WINDOW_MINUTES * 60}, 1)::int AS seconds FROM audit_entries
    WHERE at > now() - make_interval(mins => ${WINDOW_MINUTES}::int)
      AND actor = ${actor} AND user_id IS NOT DISTINCT FROM ${userId}::uuid
      AND method = 'POST' AND path LIKE '/api/v1/%/values/%/reveal'
    ORDER BY at DESC OFFSET ${MAX_REVEALS - 1}::int LIMIT 1`.catch((cause) => {
    throw notRecorded(cause);
  });
  if (!oldest) return;
  throw new Problem(
    'rate_limited',
    `A user can reveal ${MAX_REVEALS} values in ${WINDOW_MINUTES} minutes. Try again in ${oldest.seconds} s.`,
    { headers: { 'Retry-After': `${oldest.seconds}` } },
  );
}
