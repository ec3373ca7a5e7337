import { LOST_RIGHT } from '@svc/delivery';
import { GitError, gitOver } from '@svc/git';
import { type Log, type Outbound, type PeriodicTask, Problem, runPeriodically } from '@svc/http';
import { v7 as uuidv7 } from 'uuid';
import type { PlanMaking } from '../api/plans/making.ts';
import { Recording } from '../audit/recording.ts';
import { logEvents } from '../events/record.ts';
import { authorOf } from '../identity/actor.ts';
import { hasPresentRole } from '../identity/authority.ts';
import type { SourcePrincipal } from '../identity/principal.ts';
import { type ClaimedSource, claimSources, disableSource, endCheck } from '../plans/sources/rows.ts';
import { openSourceSecrets } from '../plans/sources/secrets.ts';
import { CheckFailed, checkSource } from './check.ts';

/** In milliseconds. */
export interface SourceTimings {
  /** The pause between two looks for sources whose check is due. */
  readonly lookEvery: number;
}

const LOOK_MS = 1000;

/** The checks of a process at the same time. */
const CONCURRENCY = 4;

/** The longest pause after failed checks, in seconds. */
const MAX_BACKOFF = 3600;

interface Options {
  readonly making: Omit<PlanMaking, 'principal' | 'recording'>;
  readonly log: Log;
  /** A client with `GIT_OUTBOUND` that refuses targets which are not allowed. */
  readonly outbound: Outbound;
  readonly timings?: SourceTimings | undefined;
}

interface Sources {
  start(): void;
  stop(): Promise<void>;
}

/** The checks of sources. Each replica claims those that are due. */
export function createSources({ making, log, outbound, timings = { lookEvery: LOOK_MS } }: Options): Sources {
  const owner = uuidv7();
  const { client } = making.database;
  const running = new Set<Promise<void>>();
  let task: PeriodicTask | undefined;
  const begin = (source: ClaimedSource) => {
    const work = checkOne({ making, log, outbound, owner }, source)
      .catch((error: unknown) =>
        log.warn({ err: error, source: source.name }, 'the check of a source has ended early; will retry'),
      )
      .finally(() => running.delete(work));
    running.add(work);
  };
  const look = async () => {
    try {
      const free = CONCURRENCY - running.size;
      for (const source of free > 0 ? await claimSources(client, owner, free) : []) begin(source);
    } catch (error) {
      log.warn({ err: error }, 'the look for sources failed; will retry');
    }
    return timings.lookEvery;
  };
  return {
    start: () => {
      task ??= runPeriodically(timings.lookEvery, look);
    },
    stop: async () => {
      await task?.stop();
      await Promise.all(running);
    },
  };
}

type Checking = Pick<Options, 'making' | 'log' | 'outbound'> & { readonly owner: string };

async function checkOne({ making, log, outbound, owner }: Checking, source: ClaimedSource): Promise<void> {
  const { database, settings } = making;
  const { client } = database;
  if (!(await hasPresentRole(client, source, { role: 'operator', settings }))) {
    logEvents(log, await disableSource(client, source.id, LOST_RIGHT));
    return;
  }
  const principal: SourcePrincipal = { kind: 'source', id: source.id, name: source.name, approval: source.approval };
  const check = async () => {
    const secrets = await openSourceSecrets(settings.sealer, source);
    if (secrets === undefined) throw new CheckFailed(LOST_SECRETS);
    const { url, user_name: user } = source;
    const send = gitOver({ outbound, url: new URL(url), token: secrets.token ?? undefined, user });
    return checkSource({ making: { ...making, principal }, recordingOf: recordingFor(principal), source, send });
  };
  const end = await check().then(
    (result) => ({ result, failure: undefined }),
    (error: unknown) => ({
      result: error instanceof CheckFailed ? error.result : undefined,
      failure: failureOf(error, log),
    }),
  );
  logEvents(
    log,
    await endCheck(client, { owner, source, ...end, nextSeconds: pauseAfter(source, end.failure !== undefined) }),
  );
}

const LOST_SECRETS =
  'The token and the secret of notifications cannot be decrypted. Replace the secret of notifications, and set the token again.';

/** The recording of the application of a plan, as if the source had requested it. */
const recordingFor = (principal: SourcePrincipal) => (planId: string) =>
  Recording.ofOwn({
    method: 'POST',
    path: `/api/v1/plans/${planId}/apply`,
    request_id: `source-${principal.id}`,
    actor: authorOf(principal),
  });

/** Checks are spread, so that sources that were created together do not stay together. */
function pauseAfter({ interval_seconds: interval, failures }: ClaimedSource, isFailed: boolean): number {
  const backoff = isFailed
    ? Math.min(interval * 2 ** Math.min(failures, 10), Math.max(interval, MAX_BACKOFF))
    : interval;
  return backoff * (0.9 + Math.random() * 0.2);
}

/**
 * Why a check changed nothing, for the person who has set up the source.
 * @throws a Problem from 500, such as that of the database, which says nothing about the source: its check is due again after its lease
 */
function failureOf(error: unknown, log: Log): string {
  if (error instanceof Problem && error.status >= 500) throw error;
  if (error instanceof CheckFailed || error instanceof GitError || error instanceof Problem) return error.message;
  log.error({ err: error }, 'the check of a source has failed; will retry');
  return INTERNAL_FAILURE;
}

const INTERNAL_FAILURE =
  'The fleet could not complete the check because of an internal error. Its log states the cause.';
