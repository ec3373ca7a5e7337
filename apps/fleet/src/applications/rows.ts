import type { Reply } from '@svc/contract';
import { type fleetEndpoints, overridesReply, type phases, usesReply } from '@svc/contract/fleet';
import { z } from 'zod';
import { type DeploymentRow, deploymentSummaries, presentEndpoints, presentReason } from '../deployments/rows.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { imageReference } from '../render/image.ts';
import { presentAdvice, storedAdvice } from '../resources/advice.ts';
import { adviceBytesOfSpec, adviceOfSpec, ofPresentSpec } from '../resources/application-copies.ts';
import { presentAvailableUpgrade, presentUpgrade, storedPresent } from '../resources/application-updates.ts';
import { type Kind, managedBy, managedByOf, presentCommon, readRow, readRows, resourceRow } from '../resources/kind.ts';
import { presentTarget } from '../resources/storage.ts';
import { storedInputs } from './inputs.ts';
import { policyOfApplication, storedApplicationUpdates } from './updates/policy.ts';

type Reader = Pick<Prisma.TransactionClient, '$queryRaw'>;
type Application = Reply<typeof fleetEndpoints.getApplication>['application'];
type Phase = Application['phase'];

const applicationRow = resourceRow.extend({
  desired_state: z.enum(['running', 'stopped']),
  generation: z.int(),
  good_generation: z.int().nullable(),
  failed_generation: z.int().nullable(),
  deleting: z.boolean(),
  on_failure: z.enum(['auto', 'roll_back', 'stop']),
  /** Those of the application of the catalog from which it was made; null: from none. */
  catalog_id: z.string().nullable(),
  catalog_slug: z.string().nullable(),
  catalog_revision: z.int().nullable(),
  /** The present application of the catalog; null if it is not in the mirror. */
  upgrade: storedPresent,
  updates: storedApplicationUpdates,
  advice: storedAdvice,
  /** How the present generation has ended. */
  outcome: z.enum(['good', 'failed', 'superseded']).nullable(),
  outcome_reason: z.string().nullable(),
  /** The names of the parts of the present generation. */
  part_names: z.array(z.string()),
  inputs: storedInputs,
  overrides: overridesReply,
  uses: usesReply,
  generated: z.array(z.string()),
  managed_by: managedBy,
  /** The ids of the deployments of its parts. */
  part_ids: z.array(z.string()),
});
export type ApplicationRow = z.output<typeof applicationRow>;

const ofGeneration = (expression: Prisma.Sql) =>
  Prisma.sql`(SELECT ${expression} FROM application_generations g WHERE g.application_id = r.id AND g.generation = r.generation)`;

export const applications: Kind<ApplicationRow> = {
  table: 'applications',
  row: applicationRow,
  bytes: Prisma.sql`coalesce(${ofGeneration(Prisma.sql`octet_length(g.inputs::text) + octet_length(g.overrides::text) + octet_length(g.uses::text)`)}, 0)
    + coalesce(${ofPresentSpec(adviceBytesOfSpec)}, 0)`,
  columns: Prisma.sql`r.desired_state::text, r.generation, r.good_generation, r.failed_generation, r.deleting, r.on_failure,
    ${ofPresentSpec(Prisma.sql`s.catalog_id`)} AS catalog_id, ${ofPresentSpec(Prisma.sql`s.catalog_slug`)} AS catalog_slug,
    ${ofPresentSpec(Prisma.sql`s.catalog_revision`)} AS catalog_revision,
    ${presentUpgrade} AS upgrade, r.updates, ${ofPresentSpec(adviceOfSpec)} AS advice,
    ${ofGeneration(Prisma.sql`g.outcome`)} AS outcome, ${ofGeneration(Prisma.sql`g.outcome_reason`)} AS outcome_reason,
    coalesce(${ofGeneration(Prisma.sql`ARRAY(SELECT jsonb_object_keys(g.parts))`)}, '{}') AS part_names,
    coalesce(${ofGeneration(Prisma.sql`g.inputs`)}, '{}') AS inputs, coalesce(${ofGeneration(Prisma.sql`g.overrides`)}, '{}') AS overrides,
    coalesce(${ofGeneration(Prisma.sql`g.uses`)}, '{}') AS uses,
    ARRAY(SELECT v.variable FROM sealed_values v WHERE v.application_id = r.id ORDER BY v.variable) AS generated,
    ${managedByOf('application')} AS managed_by,
    ARRAY(SELECT d.id FROM deployments d WHERE d.application_id = r.id ORDER BY d.part) AS part_ids`,
};

/** An application as the API shows it. @throws 404 */
export async function readApplication(reader: Reader, id: string): Promise<Application> {
  const [application] = await presentApplications(reader, [await readRow(reader, applications, id)]);
  if (!application) throw new Error('an application was not presented');
  return application;
}

/** Applications as the API shows them, with the state of their parts. */
export async function presentApplications(reader: Reader, rows: readonly ApplicationRow[]): Promise<Application[]> {
  const ids = rows.flatMap(({ part_ids }) => part_ids);
  const parts = ids.length === 0 ? [] : await readRows(reader, deploymentSummaries, ids);
  return rows.map((row) =>
    present(
      row,
      parts
        .filter(({ application_id }) => application_id === row.id)
        .toSorted((one, other) => row.part_ids.indexOf(one.id) - row.part_ids.indexOf(other.id)),
    ),
  );
}

function present(row: ApplicationRow, parts: readonly DeploymentRow[]): Application {
  const [first] = parts;
  return {
    ...presentCommon(row),
    target: first ? presentTarget(first) : null,
    target_name: first?.target_name ?? null,
    desired_state: row.desired_state,
    generation: row.generation,
    good_generation: row.good_generation,
    failed_generation: row.failed_generation,
    on_failure: row.on_failure,
    slug: row.catalog_slug,
    application_state: row.catalog_id === null ? null : (row.upgrade?.state ?? 'withdrawn'),
    updates: policyOfApplication(row),
    update: presentAvailableUpgrade(row.upgrade),
    ...presentCopy(row),
    outcome: row.outcome,
    outcome_reason: row.outcome_reason,
    inputs: row.inputs,
    overrides: row.overrides,
    use: row.uses,
    generated: row.generated,
    managed_by: row.managed_by,
    ...stateOf(row, parts),
    parts: parts.map((part) => presentPart(row, part)),
  };
}

/** The members of the API about the application of the catalog from which an application was made. */
export function presentCopy({ catalog_id, catalog_revision, advice: known }: ApplicationRow) {
  const { template_revision: application_revision, advice } = presentAdvice({
    template_id: catalog_id,
    template_revision: catalog_revision,
    advice: known,
  });
  return { application_revision, advice };
}

const presentPart = ({ part_names }: ApplicationRow, row: DeploymentRow): Application['parts'][number] => ({
  name: row.part ?? '',
  deployment_id: row.id,
  deployment_name: row.name,
  phase: row.phase,
  ...presentReason(row),
  waits_for: (row.waiting ?? []).map(({ part, until }) => ({ part, until })),
  image: imageReference(row.image_source),
  replicas: row.replicas,
  generation: row.generation,
  observed_generation: row.observed_generation,
  endpoints: presentEndpoints(row),
  removed: row.deleting || !part_names.includes(row.part ?? ''),
});

/** From the worst one to the best one. */
const SEVERITY: readonly Phase[] = [
  'deleting',
  'failed',
  'degraded',
  'retrying',
  'stopping',
  'pending',
  'starting',
  'running',
  'stopped',
] satisfies readonly (typeof phases)[number][];

type State = Pick<Application, 'phase' | 'reason' | 'message' | 'part'>;

/** The state of an application: that of its worst part, without jobs that have completed. */
function stateOf(row: ApplicationRow, parts: readonly DeploymentRow[]): State {
  const isJobDone = (part: DeploymentRow) => part.phase === 'stopped' && row.desired_state === 'running';
  const counted = parts.filter((part) => !isJobDone(part));
  const [worst] = counted.toSorted((one, other) => SEVERITY.indexOf(one.phase) - SEVERITY.indexOf(other.phase));
  if (row.deleting || !worst) {
    const phase = row.deleting ? 'deleting' : 'stopped';
    return { phase, ...(worst ? presentReason(worst) : { reason: null, message: '' }), part: worst?.part ?? null };
  }
  const isPartial = worst.phase === 'failed' && counted.some(({ phase }) => phase !== 'failed');
  const isSame = counted.every(({ phase }) => phase === worst.phase);
  const isFine = worst.phase === 'running' || worst.phase === 'stopped';
  if (isFine && isSame) return { phase: worst.phase, reason: null, message: '', part: null };
  return { phase: isPartial ? 'degraded' : worst.phase, ...presentReason(worst), part: worst.part };
}
