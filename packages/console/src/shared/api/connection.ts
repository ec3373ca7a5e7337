import { toServerTime } from './clock.ts';
import { createSharedValue } from './shared-value.ts';

/**
 * After this time without a sign of life, in milliseconds, the console tells the user that what a
 * page shows can be old.
 */
const SILENCE_MS = 10_000;
/** After this time without a sign of life, the console tries to get one, and then repeatedly. */
const FIRST_TRY_MS = 7000;
export const TRY_MS = 4000;
const CHECK_MS = 1000;
/** A check that is this late did not run because the browser had suspended the page. */
const SUSPENDED_MS = 5000;

/** The probe of the services that needs no session. */
const LIVENESS = '/healthz';

/** Times are those of `performance.now()`, which a change of the clock does not affect. */
let heardAt = performance.now();
/** When the missing sign of life was expected first; undefined if none is missing. */
let missingSince: number | undefined;
let checkedAt = performance.now();
let triedAt = 0;
/** Opens the stream again whose events are the signs of life; undefined without a stream. */
let reopen: (() => void) | undefined;
/**
 * If the connection is lost: when the service was heard last, in milliseconds by its clock;
 * otherwise undefined.
 */
export const lostSince = createSharedValue<number | undefined>(undefined);

const returnListeners = new Set<() => void>();

/** Notes that the service has sent something. */
export function noteSignOfLife(): void {
  heardAt = performance.now();
  missingSince = reopen && heardAt;
  if (lostSince.get() === undefined) return;
  lostSince.set(undefined);
  for (const listener of returnListeners) listener();
}

/** Notes that a request is sent: an answer is expected. */
export function noteRequest(): void {
  missingSince ??= performance.now();
}

/**
 * Notes the answer to a request. It is a sign of life unless there is a stream, without which what
 * the page shows becomes old although requests are answered.
 */
export function noteAnswer({ status }: Pick<Response, 'status'>): void {
  if (!reopen && !isOfProxy(status)) noteSignOfLife();
}

/** A proxy answers with these codes if the service does not answer. */
const isOfProxy = (status: number) => status === 502 || status === 504;

/** From now on the events of a stream are the signs of life. */
export function expectStream(open: () => void): void {
  reopen = open;
  missingSince = performance.now();
}

/**
 * Runs each time when the service is heard again after the connection was lost.
 *
 * @returns a function that ends this
 */
export function onReturn(listener: () => void): () => void {
  returnListeners.add(listener);
  return () => returnListeners.delete(listener);
}

/** Tries to reach the service at once. */
export function tryNow(): void {
  triedAt = performance.now();
  if (reopen) reopen();
  else void probe().then(noteAnswer, () => undefined);
}

const probe = () => fetch(LIVENESS, { cache: 'no-store', signal: AbortSignal.timeout(TRY_MS) });

/** Whether the service responds at once. */
export const isHeard = (): Promise<boolean> =>
  probe().then(
    ({ ok }) => ok,
    () => false,
  );

function check(): void {
  const now = performance.now();
  const wasSuspended = now - checkedAt > SUSPENDED_MS;
  checkedAt = now;
  if (missingSince === undefined || document.hidden) return;
  // Messages that have arrived meanwhile are delivered first.
  if (wasSuspended) missingSince = now;
  const silence = now - missingSince;
  if (silence >= FIRST_TRY_MS && now - triedAt >= TRY_MS) tryNow();
  if (silence < SILENCE_MS || lostSince.get() !== undefined) return;
  lostSince.set(toServerTime(Date.now() - (now - heardAt)));
}

setInterval(check, CHECK_MS);
