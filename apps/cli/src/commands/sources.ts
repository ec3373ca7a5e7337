import { setTimeout as pause } from 'node:timers/promises';
import { type Fleet, fleetOf, reply } from '../api.ts';
import { confirm, requireConsent } from '../consent.ts';
import { type ExitCode, exitCodes, Failure, UsageError } from '../errors.ts';
import type { components } from '../generated/fleet.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { onlyOne } from '../names.ts';
import { print, tell } from '../output.ts';
import { allPages } from '../pages.ts';
import { readStdin } from '../stdin.ts';
import { oneLine } from '../text.ts';

type Source = components['schemas']['Source'];

async function sourceOf(fleet: Fleet, name: string): Promise<Source> {
  const { sources } = await reply(fleet.GET('/api/v1/sources', { params: { query: { name, limit: 2 } } }));
  return onlyOne('source', name, sources);
}

const commitOf = ({ commit }: Source): string | null =>
  commit === null ? null : `${commit.sha.slice(0, 12)} ${oneLine(commit.title)}`;

export const list: Action = async (_, options) => {
  const fleet = fleetOf(options);
  const sources = await allPages<Source>(async (query) => {
    const answer = await reply(fleet.GET('/api/v1/sources', { params: { query } }));
    return { rows: answer.sources, totalPages: answer.pagination.totalPages };
  });
  await print(sources, {
    format: options.output,
    as: () => ({
      columns: ['NAME', 'STATE', 'MODE', 'COMMIT', 'PLAN', 'READ'],
      rows: sources.map((source) => [
        source.name,
        source.state,
        source.mode,
        commitOf(source),
        source.plan_state,
        source.checked_at,
      ]),
    }),
  });
  return undefined;
};

export const show: Action = async ([name = ''], options) => {
  await printSource(await sourceOf(fleetOf(options), name), options);
  return undefined;
};

/** The pause between two requests for a source that is read. */
const PAUSE_MS = 1000;
/** A fleet begins a check again after three minutes, if the process that made it has ended. */
const MAX_REQUESTS = 240;

/** Waits until the repository has been read. @throws Failure if it is not read */
async function untilRead(fleet: Fleet, id: string): Promise<Source> {
  for (let count = 0; count < MAX_REQUESTS; count += 1) {
    const { source } = await reply(fleet.GET('/api/v1/sources/{id}', { params: { path: { id } } }));
    if (!source.checking) return source;
    await pause(PAUSE_MS);
  }
  throw new Failure(`The repository was not read within ${(MAX_REQUESTS * PAUSE_MS) / 1000} s.`);
}

const codeOf = ({ state }: Source): ExitCode => (state === 'ok' ? exitCodes.done : exitCodes.failed);

const printSource = (source: Source, options: Common) =>
  print(source, {
    format: options.output,
    as: () => ({
      name: source.name,
      set: source.set,
      repository: source.url,
      branch: source.branch,
      folder: source.folder === '' ? '(all)' : source.folder,
      state: source.state,
      reason: source.disabled_reason ?? source.failure ?? '',
      mode: source.heal ? `${source.mode}, reverts changes by hand` : source.mode,
      removed: source.prune,
      commit: commitOf(source) ?? '',
      applied: source.applied_commit?.slice(0, 12) ?? '',
      plan: source.plan_id === null ? '' : `${source.plan_id} (${source.plan_state ?? 'no longer kept'})`,
      read: source.checked_at ?? 'never',
    }),
  });

interface ReadOptions extends Common {
  readonly wait?: boolean;
}

interface AddOptions extends ReadOptions {
  readonly branch?: string;
  readonly folder?: string;
  readonly set?: string;
  readonly token?: string;
  readonly mode?: 'manual' | 'automatic';
  readonly heal?: boolean;
  readonly removed?: 'never' | 'ask' | 'automatic';
  readonly interval?: number;
}

/** Follows a branch. The secret of notifications is printed once. */
export const add: Action<AddOptions> = async ([name = '', url = ''], options) => {
  requireConsent(options);
  if (options.token !== undefined && options.token !== '-')
    throw new UsageError('A token is never an argument. Use --token - and write it to stdin.');
  const token = options.token === '-' ? await readStdin() : undefined;
  const { branch, folder, set, mode, heal, removed: prune, interval: interval_seconds } = options;
  const fleet = fleetOf(options);
  await confirm(`Follow ${url} with your rights?`, options);
  const body = { name, url, ...given({ branch, folder, set, mode, heal, prune, interval_seconds, token }) };
  const { source } = await reply(fleet.POST('/api/v1/sources', { body }));
  tell(
    'Set the address and the secret at the server of the repository, so that a push is read at once. The secret is shown only now.',
  );
  await print(source, {
    format: options.output,
    as: () => ({ name: source.name, notifications: `/api/v1/sources/${source.id}/hook`, secret: source.hook_secret }),
  });
  if (options.wait !== true) return undefined;
  const read = await untilRead(fleet, source.id);
  tell(oneLine(`${name}: ${read.state} ${read.failure ?? commitOf(read) ?? ''}`));
  return codeOf(read);
};

export const check: Action<ReadOptions> = async ([name = ''], options) => {
  const fleet = fleetOf(options);
  const { id } = await sourceOf(fleet, name);
  await reply(fleet.POST('/api/v1/sources/{id}/check', { params: { path: { id } } }));
  if (options.wait === true) {
    const read = await untilRead(fleet, id);
    await printSource(read, options);
    return codeOf(read);
  }
  tell(`The repository of ${name} is read now. See: svc source show ${name}`);
  return undefined;
};

const setEnabled =
  (enabled: boolean): Action =>
  async ([name = ''], options) => {
    requireConsent(options);
    const fleet = fleetOf(options);
    const { id } = await sourceOf(fleet, name);
    await confirm(enabled ? `Enable the source ${name} with your rights?` : `Disable the source ${name}?`, options);
    await reply(fleet.PUT('/api/v1/sources/{id}', { params: { path: { id } }, body: { enabled } }));
    tell(`The source ${name} is ${enabled ? 'enabled' : 'disabled'}.`);
    return undefined;
  };

export const enable = setEnabled(true);
export const disable = setEnabled(false);

export const remove: Action = async ([name = ''], options) => {
  requireConsent(options);
  const fleet = fleetOf(options);
  const { id } = await sourceOf(fleet, name);
  await confirm(`Delete the source ${name}? All deployments and applications stay.`, options);
  await reply(fleet.DELETE('/api/v1/sources/{id}', { params: { path: { id } } }));
  tell(`The source ${name} is deleted.`);
  return undefined;
};
