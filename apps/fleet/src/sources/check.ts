import { planLimits } from '@svc/contract/fleet';
import { commitOf, descendsFrom, type GitFolder, type GitSend, readFolder } from '@svc/git';
import { Problem } from '@svc/http';
import { applyStored, decideFiles, type FilesPlan, type PlanMaking, storePlan } from '../api/plans/making.ts';
import { PlanOutdated } from '../plans/apply.ts';
import { readDocuments } from '../plans/documents.ts';
import { readPlan, recordOutdated } from '../plans/rows.ts';
import { type CheckResult, type ClaimedSource, readDrift } from '../plans/sources/rows.ts';
import type { PlanOptions } from '../plans/step.ts';

/** What a check of a source works with. The principal is the source. */
export interface CheckContext {
  readonly making: Omit<PlanMaking, 'recording'>;
  /** The audit entry of the application of a plan. */
  readonly recordingOf: (planId: string) => PlanMaking['recording'];
  readonly source: ClaimedSource;
  readonly send: GitSend;
}

/** Nothing was changed. The message is for the person who has written the files, or who has set up the source. */
export class CheckFailed extends Error {
  override name = 'CheckFailed';
  /** What is known nevertheless, such as the commit that was read. */
  readonly result: CheckResult | undefined;
  constructor(message: string, result?: CheckResult) {
    super(message);
    this.result = result;
  }
}

type Plan = Awaited<ReturnType<typeof readPlan>>;

/** What is done next about a source. */
type Next = 'nothing' | 'apply' | 'plan' | 'prune';

/** A commit is planned and applied, and then the removal of objects. Each can be outdated once. What is left is done by the next check. */
const MAX_STEPS = 6;

/**
 * Checks a source: reads the commit of its branch, and plans what its files describe unless that was done before. In the mode
 * `automatic`, applies the plan unless it needs approval. A source that cannot be read changes nothing.
 * @throws CheckFailed, GitError, and the errors of the transport
 */
export async function checkSource(context: CheckContext): Promise<CheckResult> {
  const { source, send } = context;
  const head = await commitOf(send, source.branch);
  if (head === undefined) throw new CheckFailed(`The repository has no branch ${source.branch}.`);
  let known = await knownOf(context);
  if (head !== known.commit) known = await readCommit(context, head, known);
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    const next = await nextOf(context, known);
    if (next === 'nothing') break;
    known = next === 'apply' ? await apply(context, known) : await plan(context, known, next === 'prune');
  }
  const { plan: last, files, isFresh, ...result } = known;
  if (last?.state === 'refused') throw new CheckFailed(describeRefusals(result.commit, last), result);
  return result;
}

/** What is known of a source during a check. */
interface Known extends CheckResult {
  readonly plan: Plan | undefined;
  /** The files of the commit; undefined: they were not read in this check. */
  readonly files?: GitFolder | undefined;
  /** Whether this check has made the plan. */
  readonly isFresh?: boolean;
}

/**
 * What earlier checks have found. A plan that is no longer kept is made again. That of a settled source is not read, because it can
 * be large and nothing is left to do about it.
 */
async function knownOf({ making, source }: CheckContext): Promise<Known> {
  const { commit, applied_commit, plan_id, settled, drift } = source;
  const known = { commit, applied_commit, plan_id, settled, drift, plan: undefined };
  return settled ? known : withPlan(known, plan_id === null ? undefined : await readKept(making, plan_id));
}

const readKept = (making: CheckContext['making'], id: string): Promise<Plan | undefined> =>
  readPlan(making.database.client, id).catch((error: unknown) => {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  });

/** A plan that was applied, or has nothing to apply, makes its commit the applied one. */
const withPlan = (known: Known, plan: Plan | undefined): Known => ({
  ...known,
  plan,
  plan_id: plan?.id ?? null,
  applied_commit: plan !== undefined && isDone(plan) ? known.commit : known.applied_commit,
});

const isDone = ({ state }: Plan): boolean => state === 'applied' || state === 'unchanged';

/** The endings of files that contain documents. */
const isWanted = (path: string): boolean => /\.(?:ya?ml|json)$/.test(path);

/** @throws CheckFailed for a folder without documents */
async function readFiles({ source, send }: CheckContext, commit: string): Promise<GitFolder> {
  const { folder } = source;
  const place = folder === '' ? 'The repository' : `The folder ${folder}`;
  const found = await readFolder(send, { commit, folder, isWanted });
  if (found === undefined) throw new CheckFailed(`${place} does not exist in the commit ${shortOf(commit)}.`);
  if (found.files.length > 0) return found;
  throw new CheckFailed(
    `${place} has no files with the endings .yaml, .yml and .json in the commit ${shortOf(commit)}. To remove all objects, delete them.`,
  );
}

/** Reads a new commit, which replaces what was planned for an earlier one. */
async function readCommit(context: CheckContext, commit: string, before: Known): Promise<Known> {
  const files = await readFiles(context, commit);
  const { title, author, committedAt } = files;
  const { client } = context.making.database;
  if (before.plan && !isDone(before.plan)) await recordOutdated(client, before.plan.id);
  return {
    commit,
    described: { title, author, at: committedAt },
    applied_commit: before.applied_commit,
    plan_id: null,
    plan: undefined,
    settled: false,
    drift: null,
    files,
  };
}

async function nextOf({ making, source }: CheckContext, known: Known): Promise<Next> {
  const { plan, settled, drift, isFresh = false } = known;
  const isAutomatic = source.mode === 'automatic';
  if (settled) return isAutomatic && source.heal && (await isNewDrift(making, source, drift)) ? 'plan' : 'nothing';
  if (plan === undefined) return 'plan';
  const again = plan.prune ? 'prune' : 'plan';
  switch (plan.state) {
    case 'expired':
    case 'outdated':
      return again;
    case 'refused':
      return isFresh ? 'nothing' : again; // what was missing can exist now
    case 'ready':
      return isAutomatic ? 'apply' : 'nothing';
    case 'unchanged':
      return isAutomatic ? 'apply' : 'prune'; // its objects become members of the set
    case 'applied':
      return 'prune';
    case 'needs_approval':
    case 'rejected':
      return 'nothing';
  }
}

const isNewDrift = async ({ database }: CheckContext['making'], { set_name }: ClaimedSource, before: string | null) => {
  const now = await readDrift(database.client, set_name);
  return now !== null && now !== before;
};

/** Plans the files of the commit, or, with `prune`, also the removal of objects whose documents are gone. */
async function plan(context: CheckContext, known: Known, prune: boolean): Promise<Known> {
  const { making, source } = context;
  const { commit } = known;
  if (commit === null || (prune && (source.prune === 'never' || (known.plan?.prune === true && isDone(known.plan)))))
    return { ...known, settled: true };
  const drift = await readDrift(making.database.client, source.set_name);
  const folder = known.files ?? (await readFiles(context, commit));
  const given = { ...known, files: folder, drift, settled: false, isFresh: true };
  const { files } = folder;
  const options = optionsOf(source, prune);
  const documents = await readDocuments(files).catch((error: unknown) => failedFor(error, given));
  const decided = await decideFiles(making, documents, options).catch((error: unknown) => failedFor(error, given));
  const { summary } = decided.content;
  const removes = summary.delete + summary.release;
  if (prune && removes === 0) return { ...given, settled: true };
  if (known.plan?.digest === decided.digest && known.plan.state === 'refused') return given; // it says the same
  const isHeld =
    (await isRewritten(context, known)) ||
    (prune && (source.prune === 'ask' || summary.delete > source.max_deletions || isReviewed(known)));
  const read = { source: source.id, commit };
  const title = `${shortOf(commit)} ${folder.title}`.slice(0, MAX_TITLE);
  const stored = await store(context, { files, title, options, read, isHeld, ...decided });
  return withPlan(given, stored);
}

const MAX_TITLE = 200;

/**
 * Applied automatically, a plan changes what a commit has changed. With `heal`, and in a plan that a person reads first, it also
 * reverts changes by hand, but never a rollback.
 */
const optionsOf = ({ set_name: set, mode, heal }: ClaimedSource, prune: boolean): PlanOptions => ({
  set,
  prune,
  max_deletions: prune ? planLimits.deletions : 0,
  adopt: false,
  drift: mode === 'automatic' && !heal ? 'keep' : 'keep_rolled_back',
});

/** Whether the history of the branch was rewritten since the commit that was applied last. */
async function isRewritten({ send }: CheckContext, { commit, applied_commit: ancestor }: Known): Promise<boolean> {
  if (commit === null || ancestor === null || commit === ancestor) return false;
  return !(await descendsFrom(send, { commit, ancestor }));
}

/** Whether a person had to approve the plan before the removal of objects, such as after a rewritten history. */
const isReviewed = ({ plan }: Known): boolean => plan !== undefined && plan.review !== null;

async function store({ making }: CheckContext, plan: FilesPlan): Promise<Plan> {
  const { client } = making.database;
  const id = await client.$transaction((transaction) => storePlan(making, transaction, plan));
  return readPlan(client, id);
}

/** Applies the plan. If what it was decided about has changed, the plan is outdated, and another one is made next. */
async function apply({ making, recordingOf, source }: CheckContext, known: Known): Promise<Known> {
  const { plan } = known;
  if (plan === undefined) return known;
  const { client } = making.database;
  try {
    await applyStored({ ...making, recording: recordingOf(plan.id) }, plan);
  } catch (error) {
    if (!(error instanceof PlanOutdated)) throw error;
    await recordOutdated(client, plan.id);
  }
  return withPlan({ ...known, drift: await readDrift(client, source.set_name) }, await readPlan(client, plan.id));
}

const shortOf = (commit: string): string => commit.slice(0, 12);

/** The errors that a failure lists, and their characters. */
const MAX_LISTED = 20;
const MAX_CHARACTERS = 4000;

/** A problem of the files, with their lines. @throws CheckFailed, or any other error */
function failedFor(error: unknown, { plan, files, isFresh, ...result }: Known): never {
  if (!(error instanceof Problem) || error.status >= 500) throw error;
  const { errors = [{ path: '', message: error.message }] } = error;
  throw new CheckFailed(`${commitText(result.commit)} is refused as a whole: ${listed(errors)}`, result);
}

const commitText = (commit: string | null) => `The commit ${shortOf(commit ?? '')}`;

function listed(errors: readonly { readonly path: string; readonly message: string }[]): string {
  const texts = errors.slice(0, MAX_LISTED).map(({ path, message }) => `${path} ${message}`.trim());
  const more = errors.length - texts.length;
  return `${texts.join('; ').slice(0, MAX_CHARACTERS)}${more > 0 ? `; and ${more} more` : ''}.`;
}

const describeRefusals = (commit: string | null, { refusals }: Plan): string =>
  `The plan of the commit ${shortOf(commit ?? '')} is refused: ${listed(
    refusals.map(({ file, line, path, message }) => ({
      path: `${file}:${line}`,
      message: `${path} ${message}`.trim(),
    })),
  )}`;
