import type { IncomingMessage, ServerResponse } from 'node:http';
import { newSecretToken } from '@svc/auth';
import { onLoopback } from '@svc/testing';
import { type AnyCall, callOf, createAnswers, slugOfChangelog } from './fake-hub/answers.ts';
import { answerWell, type Behaviour, refuse } from './fake-hub/behaviours.ts';
import { createCatalog } from './fake-hub/catalog.ts';

export * from './fake-hub/a-category.ts';
export { type Call, calls } from './fake-hub/answers.ts';
export * from './fake-hub/behaviours.ts';

/** A request as the hub received it. */
interface SeenRequest {
  readonly call: AnyCall | undefined;
  readonly cursor: string | null;
  readonly limit: string | null;
  readonly authorization: string | undefined;
  /** By the clock of this process. */
  readonly at: number;
}

/**
 * Serves the syncs of a fleet as the hub's contract states, unless a behaviour is set. It shows the
 * published templates.
 */
export async function startFakeHub(key = newSecretToken('svcc_')) {
  const catalog = createCatalog();
  const beginning = catalog.now();
  const { answerTo, forget, ...settings } = createAnswers(catalog.now);
  const requests: SeenRequest[] = [];
  const applicationRequests: SeenRequest[] = [];
  let behaviours: Partial<Record<AnyCall, Behaviour>> = {};
  let changelogs: ReadonlyMap<string, readonly object[]> = new Map();
  let inFlight = 0;
  let mostAtOnce = 0;

  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const { pathname, searchParams: query } = new URL(req.url ?? '/', 'http://hub.test');
    const { authorization } = req.headers;
    const call = callOf(req.method, pathname);
    const seen = { call, cursor: query.get('cursor'), limit: query.get('limit'), authorization, at: Date.now() };
    (call === 'applications' ? applicationRequests : requests).push(seen);
    mostAtOnce = Math.max(mostAtOnce, ++inFlight);
    res.once('close', () => inFlight--);
    const refuseBy = (code: Parameters<typeof refuse>[0]) => refuse(code)({ res, good: '' });
    const changelog = changelogs.get(slugOfChangelog(pathname) ?? '');
    if (!call && !changelog) return refuseBy('not_found');
    if (authorization !== `Bearer ${key}`) return refuseBy('invalid_token');
    if (!call) return answerWell({ res, good: JSON.stringify({ entries: changelog }) });
    const good = answerTo(call, query);
    if (!good) return refuseBy('validation_failed');
    const behaviour = behaviours[call] ?? answerWell;
    await behaviour({ res, good: JSON.stringify(good) });
  };
  const server = await onLoopback((req, res) => void answer(req, res));

  return {
    url: server.url,
    key,
    ...catalog,
    ...settings,
    /** All requests except those for applications. */
    requests,
    applicationRequests,
    /** The cursors that it received, in the order of the requests. */
    cursors: () => requests.filter(({ call }) => call === 'updates').map(({ cursor }) => cursor),
    mostAtOnce: () => mostAtOnce,
    /** Sets how it responds to a call from now on. */
    behave: (how: Behaviour, call: AnyCall = 'updates') => {
      behaviours = { ...behaviours, [call]: how };
    },
    /** Sets the changelog of a template or an application. Without one, the hub is of a version without changelogs. */
    setChangelog: (slug: string, ...entries: readonly object[]) => {
      changelogs = new Map([...changelogs, [slug, entries]]);
    },
    recover: () => {
      behaviours = {};
    },
    /** Resets to the initial state, with another organization. */
    reset: () => {
      catalog.restore(beginning);
      forget();
      requests.splice(0);
      applicationRequests.splice(0);
      behaviours = {};
      changelogs = new Map();
      mostAtOnce = 0;
    },
    stopListening: server.stopListening,
    startListening: server.startListening,
    stop: server.stopListening,
  };
}

export type FakeHub = Awaited<ReturnType<typeof startFakeHub>>;
