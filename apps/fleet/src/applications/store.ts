import { randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ApplicationSpec, GeneratedDeclaration } from '@svc/contract';
import type { GeneratedValue } from '@svc/contract/fleet';
import type { Sealer } from '@svc/database';
import { invalid } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { DeploymentContext } from '../deployments/changes.ts';
import { publish } from '../deployments/networks/admission.ts';
import { decideAll, storeAll } from '../deployments/plans/several.ts';
import type { DeploymentRow } from '../deployments/rows.ts';
import type { WaitsFor } from '../deployments/waits.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { authorOf } from '../identity/actor.ts';
import { nextVersion } from '../resources/kind.ts';
import { openValue, randomText, sealValue } from '../resources/sealed-values.ts';
import type { TakenValue } from './adopt.ts';
import type { Content } from './before.ts';
import type { DecidedChange } from './change.ts';
import { type DecidedApplication, type DecidedPart, retiredParts } from './decision/decide.ts';
import { trustOfCopy } from './decision/trust.ts';
import type { Origin } from './origin.ts';
import { readParts, reverseWaits, type storedParts, storeWaits } from './parts.ts';
import type { ApplicationRow } from './rows.ts';

type Transaction = Prisma.TransactionClient;

interface Creation {
  readonly onFailure: 'auto' | 'roll_back' | 'stop';
  /** The values of deployments that become generated values, by the names of these. */
  readonly values: Readonly<Record<string, TakenValue>>;
}

interface StoredApplication {
  readonly id: string;
  readonly generated: GeneratedValue[];
}

/** Stores an application that was decided under the placement lock, and not refused. @returns its id, and the values that it generated */
export async function storeApplication(
  context: DeploymentContext,
  decided: DecidedApplication,
  { onFailure, values }: Creation,
): Promise<StoredApplication> {
  const { transaction, principal } = context;
  const { id, wanted } = decided;
  const { name, labels, desiredState: desired_state, updates } = wanted;
  await transaction.application.create({
    data: {
      ...{ id, name, labels: { ...labels }, desired_state, on_failure: onFailure, updates: jsonOf(updates) },
      created_by: authorOf(principal),
    },
  });
  await storeSpec(transaction, { id, version: 1, spec: wanted.spec, origin: wanted.origin });
  const taken = await takeValues(context, { id, ids: decided.generated, values });
  const newValues = decided.newValues.filter((each) => !taken.includes(each));
  const generated = await generateValues(context, id, { ...decided, newValues });
  await storeAll(
    context,
    decided.parts.map((part) => part.decided),
  );
  await linkParts(transaction, id, decided.parts);
  const begun = decided.parts.filter(({ decided: each }) => each.kind === 'creation' || replacesInstances(each));
  if (desired_state === 'running') await storeWaits(transaction, waitsOf(begun, decided.parts));
  const message = `created with the parts ${decided.parts.map((part) => part.compiled.name).join(', ')}`;
  await recordGeneration(context, {
    id,
    generation: 1,
    specVersion: 1,
    decided,
    content: wanted,
    operation: 'create',
    message,
  });
  return { id, generated };
}

/** Stores a change that was decided under the placement lock, and not refused. @returns the values that it generated */
export async function storeChange(
  context: DeploymentContext,
  { before, change, decided, content, isUnchanged }: DecidedChange,
): Promise<GeneratedValue[]> {
  const { transaction } = context;
  const { row } = before;
  const own = {
    ...(change.labels && { labels: { ...change.labels } }),
    ...(change.onFailure && { on_failure: change.onFailure }),
    ...(change.updates && { updates: jsonOf(decided.wanted.updates) }),
  };
  if (isUnchanged) {
    await storeAll(
      context,
      decided.parts.map((part) => part.decided),
    );
    if (Object.keys(own).length > 0)
      await transaction.application.update({ where: { id: row.id }, data: { ...own, ...nextVersion() } });
    return [];
  }
  const generation = row.generation + 1;
  const specVersion = await specVersionOf(context.transaction, before, change, content.spec);
  const generated = await generateValues(context, row.id, decided);
  await storeAll(
    context,
    decided.parts.map((part) => part.decided),
  );
  await linkParts(
    transaction,
    row.id,
    decided.parts.filter(
      ({ compiled, decided: each }) => each.kind === 'creation' || each.before.part !== compiled.name,
    ),
  );
  const { desiredState } = decided.wanted;
  const isReturn = change.isReturn === true;
  await transaction.application.update({
    where: { id: row.id },
    data: {
      ...own,
      generation,
      desired_state: desiredState,
      failed_generation: isReturn ? row.generation : null,
      ...nextVersion(),
    },
  });
  const { operation, message } = change;
  await recordGeneration(context, { id: row.id, generation, specVersion, decided, content, operation, message });
  if (specVersion !== before.content.specVersion) await publish(transaction, row.id);
  if (desiredState === 'running') {
    const changed = decided.parts.filter(({ decided: each }) => each.kind === 'creation' || replacesInstances(each));
    if (operation !== 'scale') await storeWaits(transaction, waitsOf(changed, decided.parts));
  } else {
    const ids = [...before.parts.values()].map((part) => part.row.id);
    const parts = await readParts(transaction, { id: row.id, generation, part_ids: ids });
    await storeWaits(transaction, reverseWaits(parts, 'stopped'));
    await removeRetired(context, row, retiredParts(before, decided));
  }
  return generated;
}

const replacesInstances = (decided: Exclude<DecidedPart['decided'], { kind: 'creation' }>): boolean =>
  decided.decision?.draft.replacesInstances === true;

/** Deletes deployments that an application no longer has. Their volumes stay. */
export async function removeRetired(
  context: DeploymentContext,
  { id, generation }: Pick<ApplicationRow, 'id' | 'generation'>,
  rows: readonly DeploymentRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const { transaction } = context;
  const ids = rows.map((row) => row.id);
  await transaction.volume.updateMany({
    where: { deployment_id: { in: ids }, reclaim: 'delete' },
    data: { reclaim: 'retain', ...nextVersion() },
  });
  const decided = await decideAll(
    { ...context, ofParts: true },
    rows.map((before) => ({ kind: 'deletion' as const, before, keepsWorkload: false })),
  );
  const removed = decided.filter((each) => each.kind === 'deletion' && each.dependents.length === 0);
  await storeAll(context, removed);
  const names = rows.map(({ part }) => part).join(', ');
  const message = `the parts ${names} were removed; their volumes stay`;
  await recordEvent(transaction, { id, generation, reason: 'PartsRemoved', message, actor: null });
}

interface NewSpec {
  readonly id: string;
  readonly version: number;
  readonly spec: ApplicationSpec;
  readonly origin: Origin | undefined;
}

async function storeSpec(transaction: Transaction, { id, version, spec, origin }: NewSpec): Promise<void> {
  await transaction.applicationSpec.create({
    data: {
      ...{ application_id: id, spec_version: version, spec: jsonOf(spec) },
      ...(origin && {
        catalog_id: origin.id,
        catalog_slug: origin.slug,
        catalog_hash: origin.hash,
        catalog_revision: origin.revision,
        trust: await trustOfCopy(transaction, origin.evidence),
      }),
    },
  });
}

/** The number of the specification of a generation. A new one is stored. */
async function specVersionOf(
  transaction: Transaction,
  { row, content }: DecidedChange['before'],
  { spec: requested, restores, origin }: DecidedChange['change'],
  spec: ApplicationSpec,
): Promise<number> {
  if (restores !== undefined) {
    const where = { application_id_generation: { application_id: row.id, generation: restores } };
    return (await transaction.applicationGeneration.findUniqueOrThrow({ where })).spec_version;
  }
  const isSame = origin === undefined && isDeepStrictEqual(requested, content.spec);
  if (requested === undefined || isSame) return content.specVersion;
  const latest = await transaction.applicationSpec.aggregate({
    where: { application_id: row.id },
    _max: { spec_version: true },
  });
  const version = (latest._max.spec_version ?? 0) + 1;
  await storeSpec(transaction, { id: row.id, version, spec, origin });
  return version;
}

interface NewGeneration {
  readonly id: string;
  readonly generation: number;
  readonly specVersion: number;
  readonly decided: DecidedApplication;
  readonly content: Pick<Content, 'inputs' | 'replicas' | 'overrides' | 'uses'>;
  readonly operation: string;
  readonly message: string;
}

async function recordGeneration(context: DeploymentContext, recorded: NewGeneration): Promise<void> {
  const { transaction, principal } = context;
  const { id, generation, specVersion, decided, content, operation, message } = recorded;
  const author = authorOf(principal);
  await transaction.applicationGeneration.updateMany({
    where: { application_id: id, generation: generation - 1, outcome: null },
    data: { outcome: 'superseded', outcome_at: new Date() },
  });
  await transaction.applicationGeneration.create({
    data: {
      application_id: id,
      generation,
      spec_version: specVersion,
      inputs: jsonOf(content.inputs),
      replicas: { ...content.replicas },
      overrides: jsonOf(content.overrides),
      uses: jsonOf(content.uses),
      parts: jsonOf(partsOfGeneration(decided.parts)),
      operation,
      fingerprint: decided.fingerprint,
      created_by: author,
    },
  });
  await recordEvent(transaction, { id, generation, reason: operation, message, actor: author });
}

/** A value as Prisma stores it. */
const jsonOf = (value: unknown): Prisma.InputJsonObject => JSON.parse(JSON.stringify(value));

const idOfPart = ({ decided }: DecidedPart): string =>
  decided.kind === 'creation' ? decided.decision.draft.id : decided.before.id;

const partsOfGeneration = (parts: readonly DecidedPart[]): z.input<typeof storedParts> =>
  Object.fromEntries(
    parts.map((part) => [
      part.compiled.name,
      {
        deployment_id: idOfPart(part),
        generation: generationOf(part),
        after: [...part.compiled.after],
        volumes: volumesOf(part),
      },
    ]),
  );

function generationOf({ decided }: DecidedPart): number {
  if (decided.kind === 'creation') return 1;
  return decided.before.generation + (decided.decision === undefined ? 0 : 1);
}

function volumesOf({ decided }: DecidedPart): Record<string, string> {
  const mounted = decided.decision?.mounted.map(({ mount, id }) => [mount, id] as const);
  const kept =
    decided.kind === 'change'
      ? Object.entries(decided.before.volumes).map(([mount, { storage_id }]) => [mount, storage_id] as const)
      : [];
  return Object.fromEntries(mounted ?? kept);
}

/** Whether a part runs, or has run. A job that a restored generation does not run is not waited for. */
const runs = ({ decided }: DecidedPart): boolean => {
  const draft = decided.kind === 'change' ? decided.draft : decided.decision.draft;
  return draft.desiredState === 'running';
};

/** What the parts of some deployments wait for: those that they need, and that run. */
const waitsOf = (
  changed: readonly DecidedPart[],
  all: readonly DecidedPart[],
): ReadonlyMap<string, WaitsFor['for']> => {
  const ids = new Map(all.filter(runs).map((part) => [part.compiled.name, idOfPart(part)]));
  return new Map(
    changed.map((part) => [
      idOfPart(part),
      part.compiled.needs.flatMap((need) => {
        const needed = ids.get(need.part);
        // The contract checks the states.
        return needed === undefined ? [] : [{ id: needed, until: need.until as WaitsFor['for'][number]['until'] }];
      }),
    ]),
  );
};

/** Makes deployments the parts of an application. */
async function linkParts(transaction: Transaction, id: string, parts: readonly DecidedPart[]): Promise<void> {
  if (parts.length === 0) return;
  const rows = parts.map((part) => ({ id: idOfPart(part), part: part.compiled.name }));
  await transaction.$executeRaw`
    UPDATE deployments d SET application_id = ${id}::uuid, part = p.part
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) p(id uuid, part text) WHERE d.id = p.id`;
}

interface Taking {
  readonly id: string;
  readonly ids: ReadonlyMap<string, string>;
  readonly values: Creation['values'];
}

/** Stores generated values of deployments as those of an application. @returns their names. @throws 400 for values that do not exist */
async function takeValues(
  { transaction, settings: { sealer } }: DeploymentContext,
  { id, ids, values }: Taking,
): Promise<string[]> {
  for (const [name, { deployment, variable }] of Object.entries(values)) {
    const path = `values.${name}`;
    const sealedId = ids.get(name);
    if (sealedId === undefined) throw invalid([{ path, message: 'is not a generated value of the application' }]);
    const row = await transaction.sealedValue.findFirst({
      where: { variable, deployment: { name: deployment } },
      orderBy: { created_at: 'desc' },
    });
    if (!row) throw invalid([{ path, message: `must be a generated value: ${variable} of ${deployment} has none` }]);
    const value = await openValue(sealer, row);
    const owner = { application_id: id };
    await sealValue(transaction, sealer, {
      id: sealedId,
      owner,
      variable: name,
      value,
      revealable: row.revealable ?? false,
    });
  }
  return Object.keys(values);
}

/** Generates the values of an application that do not exist. @returns them as text, for the response to the caller who requested them */
async function generateValues(
  { transaction, settings }: { readonly transaction: Transaction; readonly settings: { readonly sealer: Sealer } },
  id: string,
  { wanted, generated: ids, newValues }: DecidedApplication,
): Promise<GeneratedValue[]> {
  const declared: readonly GeneratedDeclaration[] = wanted.spec.generated;
  const generated: GeneratedValue[] = [];
  for (const { name, length, format } of declared.filter((each) => newValues.includes(each.name))) {
    const value = randomOf(format, length);
    const sealed = {
      id: ids.get(name) ?? uuidv7(),
      owner: { application_id: id },
      variable: name,
      value,
      revealable: true,
    };
    await sealValue(transaction, settings.sealer, sealed);
    generated.push({ name, value });
  }
  return generated;
}

/** A random value of a format. An unknown one, of a later version, is text. */
function randomOf(format: string, length: number): string {
  if (format === 'uuid') return randomUUID();
  if (format === 'base64') return randomBytes(length).toString('base64');
  if (format === 'hex')
    return randomBytes(Math.ceil(length / 2))
      .toString('hex')
      .slice(0, length);
  return randomText(length);
}

interface NewEvent {
  readonly id: string;
  readonly generation: number;
  readonly reason: string;
  readonly message: string;
  /** The caller who requested it; null: the fleet itself. */
  readonly actor: string | null;
}

/** Records an operation on an application, or what happened to it. */
export const recordEvent = (transaction: Transaction, { id, actor, ...event }: NewEvent) =>
  transaction.applicationEvent.create({
    data: { application_id: id, kind: actor === null ? 'event' : 'operation', actor, ...event },
  });
