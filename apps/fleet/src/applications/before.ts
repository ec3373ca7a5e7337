import { type ApplicationSpec, applicationSpec } from '@svc/contract';
import { type Overrides, overridesReply, type Uses, usesReply } from '@svc/contract/fleet';
import { notFound } from '@svc/http';
import { z } from 'zod';
import {
  revisionColumns,
  revisionRow,
  type WorkloadRevision,
  workloadRevisionOf,
} from '../deployments/plans/revision.ts';
import type { DeploymentRow } from '../deployments/rows.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { type Inputs, storedInputs } from './inputs.ts';
import { readPartRows, storedParts } from './parts.ts';
import type { ApplicationRow } from './rows.ts';

type Transaction = Prisma.TransactionClient;

const storedReplicas = z.record(z.string(), z.int());

/** What a generation of an application requests. */
export interface Content {
  readonly specVersion: number;
  readonly spec: ApplicationSpec;
  readonly inputs: Inputs;
  readonly replicas: Readonly<Record<string, number>>;
  readonly overrides: Overrides;
  readonly uses: Uses;
  readonly parts: z.output<typeof storedParts>;
}

/** The content of a generation. @throws 404 if there is none */
export async function readContent(transaction: Transaction, id: string, generation: number): Promise<Content> {
  const found = await transaction.applicationGeneration.findUnique({
    where: { application_id_generation: { application_id: id, generation } },
  });
  if (!found) throw notFound();
  const { spec } = await transaction.applicationSpec.findUniqueOrThrow({
    where: { application_id_spec_version: { application_id: id, spec_version: found.spec_version } },
  });
  return {
    specVersion: found.spec_version,
    spec: applicationSpec.parse(spec),
    inputs: storedInputs.parse(found.inputs),
    replicas: storedReplicas.parse(found.replicas),
    overrides: overridesReply.parse(found.overrides),
    uses: usesReply.parse(found.uses),
    parts: storedParts.parse(found.parts),
  };
}

/** A part as it is before a change. */
export interface PartBefore {
  readonly row: DeploymentRow;
  readonly workload: WorkloadRevision;
  /** The number of the latest revision of its workload. */
  readonly latest: number;
}

/** What a decision finds of an application, or of deployments that become one. */
export interface Present {
  /** Undefined if the deployments become an application. */
  readonly row?: ApplicationRow;
  /** By the names of the parts, also of those that the present generation no longer has. */
  readonly parts: ReadonlyMap<string, PartBefore>;
  /** The ids of the sealed values by the names of the generated values. */
  readonly generated: ReadonlyMap<string, string>;
}

/** An application as it is before a change. */
export interface Before extends Present {
  readonly row: ApplicationRow;
  readonly content: Content;
}

export async function readBefore(transaction: Transaction, row: ApplicationRow): Promise<Before> {
  const parts = await withRevisions(transaction, await readPartRows(transaction, row));
  const values = await transaction.sealedValue.findMany({
    where: { application_id: row.id },
    select: { id: true, variable: true },
  });
  return {
    row,
    content: await readContent(transaction, row.id, row.generation),
    parts: new Map(parts.filter((part) => !part.row.deleting).map((part) => [part.row.part ?? '', part])),
    generated: new Map(values.map(({ id, variable }) => [variable, id])),
  };
}

/** Deployments with their revisions of workloads. */
export async function withRevisions(transaction: Transaction, rows: readonly DeploymentRow[]): Promise<PartBefore[]> {
  const ids = rows.map(({ id }) => id);
  const revisions = await transaction.$queryRaw<{ deployment_id: string; latest: number }[]>`
    SELECT d.id AS deployment_id, w.revision AS latest, ${revisionColumns}
    FROM deployments d JOIN workloads w ON w.id = d.workload_id
    JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
    WHERE d.id = ANY (${ids}::uuid[])`;
  const byId = new Map(revisions.map((each) => [each.deployment_id, each]));
  return rows.flatMap((row) => {
    const found = byId.get(row.id);
    return found ? [{ row, workload: workloadRevisionOf(revisionRow.parse(found)), latest: found.latest }] : [];
  });
}
