import { isDeepStrictEqual } from 'node:util';
import type { Reply } from '@svc/contract';
import { autoscalingReply, type fleetEndpoints, scalers } from '@svc/contract/fleet';
import { z } from 'zod';
import { type DeploymentEvent, DesiredState, Prisma } from '../generated/prisma/client.ts';
import { REVEAL } from './generations.ts';
import { storedHostPorts } from './host-ports/stored.ts';

type Details = NonNullable<Reply<typeof fleetEndpoints.listDeploymentEvents>['events'][number]['details']>;

/** The details of the operations that began these generations. */
type DetailsByGeneration = ReadonlyMap<number, Details>;

const comparison = z.object({
  generation: z.int(),
  revision: z.int(),
  replicas: z.int(),
  autoscaling: autoscalingReply,
  scaled_by: z.enum(scalers),
  host_ports: storedHostPorts,
  host_ports_before: storedHostPorts.nullable(),
  desired_state: z.enum(DesiredState),
  revision_before: z.int().nullable(),
  replicas_before: z.int().nullable(),
  autoscaling_before: autoscalingReply,
  scaled_by_before: z.enum(scalers).nullable(),
  desired_state_before: z.enum(DesiredState).nullable(),
  env: z.array(z.string()),
});

/**
 * Compares each generation that an operation among the events began with the generation before it.
 * The revisions of the deployment contain both, so that the events need not repeat them. The
 * database compares them, because revisions can be large.
 */
export async function readDetails(
  client: Pick<Prisma.TransactionClient, '$queryRaw'>,
  deploymentId: string,
  events: readonly DeploymentEvent[],
): Promise<DetailsByGeneration> {
  const begun = events.filter(beginsGeneration).map(({ generation }) => generation);
  if (begun.length === 0) return new Map();
  const rows = await client.$queryRaw<unknown[]>`
    SELECT after.generation, after.revision, after.replicas, after.desired_state::text, before.revision AS revision_before,
      before.replicas AS replicas_before, after.autoscaling, before.autoscaling AS autoscaling_before, after.scaled_by,
      before.scaled_by AS scaled_by_before, after.host_ports, before.host_ports AS host_ports_before, before.desired_state::text AS desired_state_before,
      ARRAY(
        SELECT coalesce(a.key, b.key) COLLATE "C" AS name FROM jsonb_each(after.env) a FULL JOIN jsonb_each(before.env) b USING (key)
        WHERE ${replaced(Prisma.sql`a.value`)} IS DISTINCT FROM ${replaced(Prisma.sql`b.value`)} ORDER BY name
      ) AS env
    FROM deployment_revisions after
    LEFT JOIN deployment_revisions before
      ON before.deployment_id = after.deployment_id AND before.generation = after.generation - 1
    WHERE after.deployment_id = ${deploymentId}::uuid AND after.generation = ANY (${begun}::int[])`;
  return new Map(
    rows.map((row): [number, Details] => {
      const compared = comparison.parse(row);
      return [compared.generation, detailsOfComparison(compared)];
    }),
  );
}

export const detailsOf = (event: DeploymentEvent, details: DetailsByGeneration): Details | null =>
  beginsGeneration(event) ? (details.get(event.generation) ?? null) : null;

const beginsGeneration = ({ kind, reason }: DeploymentEvent): boolean => kind === 'operation' && reason !== REVEAL;

/**
 * A stored value of a variable as new instances receive it: `inline` concerns only those that run.
 */
const replaced = (value: Prisma.Sql) =>
  Prisma.sql`CASE WHEN ${value} ? 'sealed' THEN ${value} - 'inline' ELSE ${value} END`;

function detailsOfComparison(compared: z.output<typeof comparison>): Details {
  const { revision, revision_before, replicas, replicas_before, desired_state, desired_state_before, env } = compared;
  const { autoscaling, autoscaling_before, scaled_by, scaled_by_before, host_ports, host_ports_before } = compared;
  return {
    ...(revision_before !== revision && { revision: { from: revision_before, to: revision } }),
    ...(replicas_before !== replicas && { replicas: { from: replicas_before, to: replicas } }),
    ...(!isDeepStrictEqual(autoscaling_before, autoscaling) && {
      autoscaling: { from: autoscaling_before, to: autoscaling },
    }),
    ...((scaled_by_before ?? 'fleet') !== scaled_by && { scaled_by: { from: scaled_by_before, to: scaled_by } }),
    ...(desired_state_before !== desired_state && { desired_state: { from: desired_state_before, to: desired_state } }),
    ...(!isDeepStrictEqual(host_ports_before ?? {}, host_ports) && {
      host_ports: { from: host_ports_before, to: host_ports },
    }),
    ...(env.length > 0 && { env }),
  };
}
