import { isDeepStrictEqual } from 'node:util';
import { nearestName } from '@svc/contract';
import { type DeploymentDocument, type DocumentKind, planLimits } from '@svc/contract/fleet';
import { invalid, Problem, pickDefined } from '@svc/http';
import { z } from 'zod';
import type { NewDeploymentRequest } from '../deployments/draft.ts';
import { readWorkloadRevision } from '../deployments/draft.ts';
import {
  revisionColumns,
  revisionRow,
  type WorkloadRevision,
  workloadRevisionOf,
} from '../deployments/plans/revision.ts';
import type { Requested } from '../deployments/plans/several.ts';
import type { Refusal } from '../deployments/refusals.ts';
import { type DeploymentRow, deployments } from '../deployments/rows.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { readRows } from '../resources/kind.ts';
import { compareDeployment } from './compare.ts';
import type { Place, PlacedDocument } from './documents.ts';
import { inOrder, namesNeeded } from './order.ts';
import { portionsOf } from './portions.ts';
import { type ManagedObject, type Names, type Referred, readManaged, readNames } from './stored.ts';

type Transaction = Prisma.TransactionClient;

/** What a plan may do, beside what documents describe. */
export interface PlanOptions {
  readonly set: string;
  readonly prune: boolean;
  readonly max_deletions: number;
  readonly adopt: boolean;
}

/** A change of one object by a plan. */
export interface Step extends Place {
  readonly kind: DocumentKind;
  readonly name: string;
  /** Null: it is created. */
  readonly id: string | null;
  readonly action: 'create' | 'change' | 'delete' | 'release';
  readonly cause: 'file' | 'drift' | 'removed';
  readonly lineOf: (path: string) => number;
  /** What is to be decided; undefined: nothing, or it is refused already. */
  readonly requested: Requested | undefined;
  readonly problems: readonly Refusal[];
  /** Of a deletion: whether the data of its volumes is deleted. */
  readonly deletesData: boolean;
  readonly needs: readonly string[];
}

export interface Steps {
  /** In the order in which they are decided. */
  readonly steps: readonly Step[];
  readonly unchanged: number;
  /** The objects of the set that no document describes, and that stay. */
  readonly leftOut: readonly ManagedObject[];
}

/**
 * Determines what documents change. @throws 400 for more changes than a plan can have
 */
export async function readSteps(
  transaction: Transaction,
  documents: readonly PlacedDocument[],
  options: PlanOptions,
): Promise<Steps> {
  const names = documents.map(({ document }) => document.name);
  const managed = await readManaged(transaction, { set: options.set, names });
  const byName = new Map(managed.map((object) => [object.name, object]));
  const pairs = documents.map((placed) => ({ placed, object: byName.get(placed.document.name) }));
  const different = pairs.filter(({ placed, object }) => !isAsApplied(placed, object, options));
  const compared = await compareAll(transaction, different, options);
  const described = new Set(names);
  const gone = managed.filter(({ name, set_name }) => set_name === options.set && !described.has(name));
  const removals = options.prune ? await removalsOf(transaction, gone) : [];
  const steps = [...inPlanOrder(compared), ...removals];
  refuseTooMany(steps, options);
  return {
    steps,
    unchanged: documents.length - compared.length,
    leftOut: options.prune ? [] : gone,
  };
}

/** @throws 400 */
function refuseTooMany(steps: readonly Step[], { max_deletions }: PlanOptions): void {
  const { changes } = planLimits;
  if (steps.length > changes) {
    const message = `describe ${steps.length} changes, and a plan can have at most ${changes}. Divide the files into several sets`;
    throw invalid([{ path: 'files', message }]);
  }
  const deletions = steps.filter(({ action }) => action === 'delete').length;
  if (deletions <= max_deletions) return;
  const message = `must be at least ${deletions} to delete as many objects. Check which documents are missing first`;
  throw invalid([{ path: 'max_deletions', message }]);
}

interface Pair {
  readonly placed: PlacedDocument;
  readonly object: ManagedObject | undefined;
}

/** Whether an object is as its document was applied, and the document is the same. */
const isAsApplied = ({ document }: PlacedDocument, object: ManagedObject | undefined, { set }: PlanOptions): boolean =>
  object !== undefined &&
  object.set_name === set &&
  !object.deleting &&
  object.applied_version === object.version &&
  isDeepStrictEqual(object.document, document);

/** The steps of documents whose objects differ. */
async function compareAll(transaction: Transaction, pairs: readonly Pair[], options: PlanOptions): Promise<Step[]> {
  const names = await readNames(transaction, referredBy(pairs));
  const steps = new Map<PlacedDocument, Step>();
  for (const { placed, object } of pairs) if (!object) steps.set(placed, creationStep(placed, names));
  const existing = pairs.flatMap(({ placed, object }) => (object ? [{ placed, object }] : []));
  const byId = new Map(existing.map((pair) => [pair.object.id, pair]));
  for (const ids of portionsOf(existing.map(({ object }) => object))) {
    const rows = await readRows(transaction, deployments, ids);
    const revisions = await readRevisions(transaction, rows);
    for (const row of rows) {
      const pair = byId.get(row.id);
      const step = pair && (await changeStep(transaction, { ...pair, row, revisions, names, options }));
      if (step) steps.set(pair.placed, step);
    }
  }
  return pairs.flatMap(({ placed }) => steps.get(placed) ?? []);
}

/** The names that documents refer to, by what they name. */
function referredBy(pairs: readonly Pair[]): Map<Referred, Set<string>> {
  const wanted = new Map<Referred, Set<string>>();
  const add = (kind: Referred, name: string | undefined) => {
    if (name !== undefined) wanted.set(kind, (wanted.get(kind) ?? new Set()).add(name));
  };
  for (const { placed } of pairs) {
    for (const { kind, name } of referencesIn(placed.document)) add(kind, name);
  }
  return wanted;
}

interface Reference {
  readonly kind: Referred;
  readonly name: string;
  readonly path: string;
}

function referencesIn({ template, workload, target, volumes = {} }: DeploymentDocument): Reference[] {
  const one = (kind: Referred, path: string, name: string | undefined): Reference[] =>
    name === undefined ? [] : [{ kind, name, path }];
  return [
    ...one('template', 'template', template),
    ...one('workload', 'workload', workload),
    ...one('host', 'target.host', target?.host),
    ...one('cluster', 'target.cluster', target?.cluster),
    ...Object.entries(volumes).flatMap(([mount, { volume }]) => one('volume', `volumes.${mount}.volume`, volume)),
  ];
}

/** A refusal for each name that does not exist, with the nearest one that does. */
const unknownNames = (document: DeploymentDocument, names: Names, except: readonly Referred[] = []): Refusal[] =>
  referencesIn(document).flatMap(({ kind, name, path }): Refusal[] => {
    if (except.includes(kind) || names.idOf(kind, name) !== undefined) return [];
    const nearest = nearestName(name, names.known(kind));
    const suggestion = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    const code = kind === 'volume' ? 'unknown_volume' : 'deployment_refused';
    return [{ code, path, message: `names the ${kind} ${name}, which does not exist${suggestion}` }];
  });

const stepOf = ({ kind, document, file, line, lineOf }: PlacedDocument) => ({
  kind,
  name: document.name,
  file,
  line,
  lineOf,
  deletesData: false,
  needs: namesNeeded(document.env ?? {}),
});

/** The members of a document that a request has under the same name. */
const SAME = [
  'name',
  'labels',
  'template',
  'spec',
  'revision',
  'replicas',
  'autoscaling',
  'scaled_by',
  'env',
  'host_ports',
  'desired_state',
  'pull',
  'acknowledge',
  'updates',
] as const;

function creationStep(placed: PlacedDocument, names: Names): Step {
  const { document } = placed;
  const problems = unknownNames(document, names);
  return {
    ...stepOf(placed),
    id: null,
    action: 'create',
    cause: 'file',
    problems,
    requested: problems.length > 0 ? undefined : { kind: 'creation', request: requestOf(document, names) },
  };
}

/** The request of a new deployment that a document describes. Its names exist. */
function requestOf(document: DeploymentDocument, names: Names): NewDeploymentRequest {
  const { workload, target, volumes = {} } = document;
  const kind = target?.host === undefined ? 'cluster' : 'host';
  const id = names.idOf(kind, target?.host ?? target?.cluster ?? '');
  return {
    replicas: 1,
    autoscaling: null,
    scaled_by: 'fleet',
    env: {},
    desired_state: 'running',
    pull: 'auto',
    ...pickDefined(document, SAME),
    ...(workload !== undefined && { workload_id: names.idOf('workload', workload) }),
    target: id === undefined ? null : { kind, id },
    volumes: Object.fromEntries(
      Object.entries(volumes).map(([mount, { size, volume }]) => [
        mount,
        volume === undefined ? { size } : { storage_id: names.idOf('volume', volume) },
      ]),
    ),
  };
}

interface ChangedPair extends Pair {
  readonly row: DeploymentRow;
  readonly revisions: ReadonlyMap<string, WorkloadRevision>;
  readonly names: Names;
  readonly options: PlanOptions;
}

/** The step of a document whose object exists; undefined if they match. */
async function changeStep(
  transaction: Transaction,
  { placed, object, row, revisions, names, options }: ChangedPair,
): Promise<Step | undefined> {
  const { document } = placed;
  const isOwn = object?.set_name === options.set;
  const previous = isOwn ? (object?.document ?? undefined) : undefined;
  const step = {
    ...stepOf(placed),
    id: row.id,
    action: 'change',
    cause: previous !== undefined && isDeepStrictEqual(previous, document) ? 'drift' : 'file',
  } as const;
  const refused = (problems: readonly Refusal[]): Step => ({ ...step, problems, requested: undefined });
  if (object?.set_name != null && !isOwn && !options.adopt) {
    const message = `belongs to the set ${object.set_name} (${object.file}:${object.line}). Remove it there, or adopt it`;
    return refused([{ code: 'deployment_refused', path: 'name', message }]);
  }
  // What it runs is compared by name; a template of the past need not be in the catalog.
  const unknown = unknownNames(document, names, ['template', 'workload']);
  if (unknown.length > 0) return refused(unknown);
  const runs = revisions.get(row.id) ?? (await readWorkloadRevision(transaction, row.workload_id, row.revision));
  const latest =
    document.spec === undefined ? runs : await readWorkloadRevision(transaction, row.workload_id, undefined);
  try {
    const { change, problems } = compareDeployment({ document, previous, row, runs, latest, names });
    if (problems.length > 0) return refused(problems);
    return change && { ...step, problems, requested: { kind: 'change', before: row, change } };
  } catch (error) {
    return refused(refusalsIn(error));
  }
}

/** What a problem states, as refusals. @throws any other error */
export function refusalsIn(error: unknown): Refusal[] {
  if (!(error instanceof Problem) || error.status >= 500) throw error;
  const { errors = [{ path: '', message: error.message }] } = error;
  return errors.map(({ path, message }) => ({ code: 'deployment_refused', path, message }));
}

const ofDeployment = revisionRow.extend({ deployment_id: z.string() });

/** The revisions that deployments run, by the id of the deployment. */
async function readRevisions(
  transaction: Transaction,
  rows: readonly DeploymentRow[],
): Promise<Map<string, WorkloadRevision>> {
  if (rows.length === 0) return new Map();
  const found = await transaction.$queryRaw<unknown[]>`
    SELECT d.id AS deployment_id, ${revisionColumns} FROM deployments d
    JOIN workload_revisions v ON v.workload_id = d.workload_id AND v.revision = d.revision
    WHERE d.id = ANY(${rows.map(({ id }) => id)}::uuid[])`;
  return new Map(
    found.map((row) => {
      const { deployment_id, ...revision } = ofDeployment.parse(row);
      return [deployment_id, workloadRevisionOf(revision)];
    }),
  );
}

/** The steps that remove objects, each before those whose values or addresses it receives. */
async function removalsOf(transaction: Transaction, gone: readonly ManagedObject[]): Promise<Step[]> {
  if (gone.length > planLimits.changes) {
    const message = `leave out ${gone.length} objects of the set, and a plan can have at most ${planLimits.changes} changes`;
    throw invalid([{ path: 'files', message }]);
  }
  const ids = gone.map(({ id }) => id);
  const rows = new Map((await readRows(transaction, deployments, ids)).map((row) => [row.id, row]));
  const steps = gone.flatMap((object): Step[] => {
    const row = rows.get(object.id);
    return row ? [removalStep(object, row)] : [];
  });
  return inOrder(steps).ordered.toReversed();
}

function removalStep({ kind, id, name, document, file, line }: ManagedObject, row: DeploymentRow): Step {
  const { on_removal = 'keep_data' } = document ?? {};
  const isKept = on_removal === 'keep' || row.deleting;
  return {
    kind,
    id,
    name,
    file: file ?? '',
    line: line ?? 1,
    lineOf: () => line ?? 1,
    action: isKept ? 'release' : 'delete',
    cause: 'removed',
    problems: [],
    requested: isKept ? undefined : { kind: 'deletion', before: row, keepsWorkload: false },
    deletesData: on_removal === 'delete_all',
    needs: namesNeeded(row.env),
  };
}

/** The steps in the order of their bindings. Those of a cycle are refused. */
function inPlanOrder(steps: readonly Step[]): Step[] {
  const { ordered, cycle } = inOrder(steps);
  const [first] = cycle;
  if (first === undefined) return ordered;
  const message = `has variables that are bound in a cycle: ${cycle.join(', ')}`;
  return ordered.map((step) =>
    step.name === first
      ? { ...step, requested: undefined, problems: [...step.problems, { code: 'invalid_env', path: 'env', message }] }
      : step,
  );
}
