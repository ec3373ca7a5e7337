import type { Dirent } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Fleet, fleetOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { type ExitCode, exitCodes, Failure, UsageError } from '../errors.ts';
import type { paths as FleetPaths } from '../generated/fleet.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { applicationOf, deploymentOf } from '../names.ts';
import { print, tell, writeLine } from '../output.ts';
import { readStdin } from '../stdin.ts';
import { oneLine } from '../text.ts';
import { hasFailed, waitFor } from './deployments.ts';

type Plan = FleetPaths['/api/v1/plans/{id}']['get']['responses'][200]['content']['application/json']['plan'];

interface FileOptions extends Common {
  readonly file: readonly string[];
  readonly set?: string;
  readonly prune?: boolean;
  readonly maxDeletions?: number;
  readonly adopt?: boolean;
  readonly title?: string;
}

interface ApplyOptions extends FileOptions {
  readonly dryRun?: boolean;
  readonly wait?: boolean;
}

/** Plans what files change, and applies exactly that after a question. */
export const apply: Action<ApplyOptions> = async (_, options) => {
  if (options.dryRun !== true) requireConsent(options);
  const fleet = fleetOf(options);
  const plan = await planFiles(fleet, options);
  if (options.dryRun === true) return showPlan(plan, options);
  return applyPlan(fleet, plan, options);
};

/** Stores the plan of files, for a review. */
export const create: Action<FileOptions> = async (_, options) =>
  showPlan(await planFiles(fleetOf(options), options), options);

/** Shows only the values that files change. */
export const diff: Action<FileOptions> = async (_, options) => {
  const plan = await planFiles(fleetOf(options), options);
  refuseRefused(plan);
  await print(plan, {
    format: options.output,
    as: () => ({
      columns: ['OBJECT', 'ACTION', 'VALUE', 'BEFORE', 'AFTER'],
      rows: plan.changes.flatMap(({ name, action, values }) =>
        values.length === 0
          ? [[name, action, null, null, null]]
          : values.map((value) => [name, action, value.path, value.from, value.to]),
      ),
    }),
  });
  return codeOf(plan);
};

interface ListOptions extends Common {
  readonly state?: string;
  readonly set?: string;
  readonly limit: number;
}

export const list: Action<ListOptions> = async (_, { state, set, limit, ...options }) => {
  const query = { limit, ...given({ state, set }) };
  const { plans, pagination } = await reply(fleetOf(options).GET('/api/v1/plans', { params: { query } }));
  await print(plans, {
    format: options.output,
    as: () => ({
      columns: ['ID', 'STATE', 'SET', 'TITLE', 'CREATE', 'CHANGE', 'DELETE', 'CREATED'],
      rows: plans.map(({ id, summary, ...plan }) => [
        id,
        plan.state,
        plan.set,
        plan.title,
        summary.create,
        summary.change,
        summary.delete,
        plan.created_at,
      ]),
    }),
  });
  if (pagination.total > plans.length) tell(`${plans.length} of ${pagination.total} plans.`);
  return undefined;
};

export const show: Action<Common> = async ([id = ''], options) => showPlan(await planOf(fleetOf(options), id), options);

interface ApplyStoredOptions extends Common {
  readonly wait?: boolean;
}

/** Applies a stored plan. */
export const applyStored: Action<ApplyStoredOptions> = async ([id = ''], options) => {
  requireConsent(options);
  const fleet = fleetOf(options);
  return applyPlan(fleet, await planOf(fleet, id), options);
};

/** Approves a plan after a question. */
export const approve: Action<Common> = async ([id = ''], options) => {
  requireConsent(options);
  const fleet = fleetOf(options);
  const plan = await planOf(fleet, id);
  if (options.yes !== true) {
    await showPlan(plan, { ...options, output: 'table' });
    await confirm('Approve exactly this?', options);
  }
  const body = { digest: plan.digest };
  const answer = await reply(fleet.POST('/api/v1/plans/{id}/approve', { params: { path: { id } }, body }));
  await print(answer.plan, { format: options.output, as: () => ({ plan: id, state: answer.plan.state }) });
  return undefined;
};

interface RejectOptions extends Common {
  readonly reason?: string;
}

/** Rejects a plan, which can then no longer be applied. */
export const reject: Action<RejectOptions> = async ([id = ''], { reason, ...options }) => {
  requireConsent(options);
  const fleet = fleetOf(options);
  const { digest } = await planOf(fleet, id);
  const body = { digest, ...given({ reason }) };
  const answer = await reply(fleet.POST('/api/v1/plans/{id}/reject', { params: { path: { id } }, body }));
  await print(answer.plan, { format: options.output, as: () => ({ plan: id, state: answer.plan.state }) });
  return undefined;
};

interface ExportOptions extends Common {
  readonly set?: string;
  readonly name?: string;
  readonly file?: string;
}

/** Prints documents of what exists, or writes them to a new file. */
export const exportFiles: Action<ExportOptions> = async (_, { set, name, file, ...options }) => {
  const query = given({ set, name });
  const { text, left_out } = await reply(fleetOf(options).GET('/api/v1/export', { params: { query } }));
  for (const each of left_out) tell(`${each.kind} ${oneLine(each.name)} is left out: ${oneLine(each.reason)}`);
  if (file === undefined) writeLine(text.trimEnd());
  else
    await writeFile(file, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? new UsageError(`${file} exists already.`) : error;
    });
  return undefined;
};

const planOf = async (fleet: Fleet, id: string): Promise<Plan> =>
  (await reply(fleet.GET('/api/v1/plans/{id}', { params: { path: { id } } }))).plan;

async function planFiles(fleet: Fleet, options: FileOptions): Promise<Plan> {
  const { set, prune, adopt, title, maxDeletions: max_deletions } = options;
  const files = await readFiles(options.file);
  const body = { files, ...given({ set, prune, adopt, title, max_deletions }) };
  return (await reply(fleet.POST('/api/v1/plans', { body }))).plan;
}

/** Files that a service accepts have at most 2 Mi characters together. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_FILES = 2000;

interface GivenFile {
  readonly path: string;
  readonly text: string;
}

/** The YAML and JSON files at paths: files, folders, or stdin. Their names are relative to the paths. @throws UsageError */
async function readFiles(places: readonly string[]): Promise<GivenFile[]> {
  if (places.length === 0) throw new UsageError('Name a file or folder with --file; -: stdin.');
  const files: GivenFile[] = [];
  let bytes = 0;
  for (const place of places) {
    if (place === '-') {
      files.push({ path: 'stdin', text: await readStdin() });
      continue;
    }
    for (const file of await filesAt(place)) {
      bytes += (await stat(file)).size;
      if (bytes > MAX_BYTES || files.length >= MAX_FILES)
        throw new UsageError(`${place} has more than ${MAX_FILES} files, or more than ${MAX_BYTES} bytes.`);
      files.push({ path: file, text: await readFile(file, 'utf8') });
    }
  }
  if (files.length === 0) throw new UsageError(`${places.join(', ')} has no files that end with .yaml, .yml or .json.`);
  return files;
}

/** @throws UsageError */
async function filesAt(place: string): Promise<string[]> {
  const found = await stat(place).catch(() => undefined);
  if (found?.isFile()) return [place];
  if (!found?.isDirectory()) throw new UsageError(`${place} is neither a file nor a folder.`);
  const entries = await readdir(place, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && /^[^.].*\.(?:ya?ml|json)$/.test(entry.name) && !isHidden(place, entry))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

/** Whether a file is in a folder whose name begins with a dot. */
const isHidden = (place: string, { parentPath }: Dirent): boolean =>
  path
    .relative(place, parentPath)
    .split(path.sep)
    .some((part) => part.startsWith('.') && part !== '.');

const codeOf = ({ changes }: Plan): ExitCode => (changes.length === 0 ? exitCodes.done : exitCodes.changes);

/** @throws Failure with all refusals, each with its file and line */
function refuseRefused({ refusals }: Plan): void {
  if (refusals.length === 0) return;
  const lines = refusals.map(({ file, line, kind, name, path: member, message }) =>
    oneLine(`${file}:${line}: ${kind} ${name}: ${`${member} ${message}`.trim()}`),
  );
  throw new Failure([...lines, 'Nothing was changed.'].join('\n'));
}

async function showPlan(plan: Plan, { output }: Common): Promise<ExitCode> {
  if (output === 'table') refuseRefused(plan);
  tellMeaning(plan);
  await print(plan, {
    format: output,
    as: () => ({ columns: ['ACTION', 'OBJECT', 'WHERE', 'PLACE', 'VALUES', 'OUTAGE'], rows: plan.changes.map(rowOf) }),
  });
  tell(`Plan ${plan.id}: ${summaryOf(plan)}`);
  return plan.refusals.length > 0 ? exitCodes.failed : codeOf(plan);
}

const rowOf = ({ action, kind, name, target, file, line, values, outage }: Plan['changes'][number]) => [
  action,
  `${kind} ${name}`,
  target && `${target.kind} ${target.name}`,
  `${file}:${line}`,
  action === 'create'
    ? null
    : values.map(({ path: member, from, to }) => `${member}: ${from ?? '-'} -> ${to ?? '-'}`).join(', '),
  outage.expected ? outage.reason : null,
];

/** Tells what is lost, and what stays although no file describes it. */
function tellMeaning({ losses, left_out, summary }: Plan): void {
  for (const { deployment, volume, size } of losses)
    tell(`The volume ${oneLine(volume)} of ${oneLine(deployment)} is deleted with its data (${oneLine(size)}).`);
  if (summary.left_out > 0)
    tell(`No file describes ${left_out.map(({ name }) => oneLine(name)).join(', ')}. Use --prune to remove them.`);
}

const summaryOf = ({ summary, state }: Plan): string => {
  const { create: created, change, delete: deleted, release, unchanged, interrupted } = summary;
  return `${state}, ${created} to create, ${change} to change, ${deleted} to delete, ${release} to release, ${unchanged} unchanged; ${interrupted} interrupted.`;
};

/** Applies a plan after a question. An unchanged one needs none: it only records that the files manage the objects. */
async function applyPlan(fleet: Fleet, plan: Plan, options: ApplyStoredOptions): Promise<ExitCode | undefined> {
  refuseRefused(plan);
  if (plan.changes.length > 0 && options.yes !== true) {
    await showPlan(plan, { ...options, output: 'table' });
    await confirm('Apply exactly this?', options);
  }
  if (plan.state === 'needs_approval') {
    tell(`The plan ${plan.id} waits for the approval of a person. Nothing was changed.`);
    return exitCodes.approval;
  }
  const { id, digest } = plan;
  const answer = await reply(fleet.POST('/api/v1/plans/{id}/apply', { params: { path: { id } }, body: { digest } }));
  await print(answer, {
    format: options.output,
    as: () => ({
      plan: id,
      state: answer.plan.state,
      ...Object.fromEntries(plan.changes.map(({ kind, name, action }) => [`${kind} ${name}`, action])),
      ...Object.fromEntries(answer.generated.map(({ deployment, name, value }) => [`${deployment} $${name}`, value])),
    }),
  });
  return options.wait === true ? waitForAll(fleet, plan) : undefined;
}

/** Waits until the objects of a plan run, have failed or are stopped. An application waits for all its parts. */
async function waitForAll(fleet: Fleet, { changes }: Plan): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done;
  for (const { kind, name, action } of changes) {
    if (action !== 'create' && action !== 'change') continue;
    for (const id of await deploymentsOf(fleet, kind, name)) {
      const deployment = await waitFor(fleet, id);
      tell(`${oneLine(deployment.name)}: ${deployment.phase} ${oneLine(deployment.message)}`);
      if (hasFailed(deployment)) code = exitCodes.failed;
    }
  }
  return code;
}

/** The ids of the deployments of an object. */
async function deploymentsOf(fleet: Fleet, kind: Plan['changes'][number]['kind'], name: string): Promise<string[]> {
  if (kind === 'deployment') return [(await deploymentOf(fleet, name)).id];
  return (await applicationOf(fleet, name)).parts.map((part) => part.deployment_id);
}
