import type { AtOnce, KnownCaller, Route } from '@svc/http';
import type { KnownKey, KnownKeys } from '../../identity/authenticate.ts';
import { anonymous, nameOf, type Principal, viewerOf } from '../../identity/principal.ts';
import type { Revision, RevisionCheck } from '../../revision/revision.ts';
import type { FrequentRead, RequestContext, Services } from './context.ts';
import { admitTo, type Entrance } from './entrance.ts';

/** A caller without a credential. */
const ANONYMOUS: KnownCaller = { session: undefined, name: nameOf(anonymous), isConstant: true };

interface Sources {
  readonly services: Services;
  readonly revisions: RevisionCheck;
  readonly knownKeys: Entrance['knownKeys'];
  readonly reads: readonly FrequentRead[];
  /** Those of the reads that fleets send all day. */
  readonly polls: readonly FrequentRead[];
}

/** Answers frequent reads of anonymous callers and of known API keys from memory. */
export function createAtOnce({
  services,
  revisions,
  knownKeys,
  reads,
  polls: pollReads,
}: Sources): AtOnce<RequestContext> {
  const { catalog, usage } = services;
  const fromMemory = new Map<Route<RequestContext>, FrequentRead>(reads.map((read) => [read, read]));
  const polls = new Set<Route<RequestContext>>(pollReads);
  return {
    latest: (route) => revisions.latest(polls.has(route)),
    callerOf: (authorization) => (authorization === undefined ? ANONYMOUS : knownKeys.find(authorization)),
    answer(route, { res, caller, input }, revision: Revision) {
      res.locals.revision = revision;
      const read = fromMemory.get(route);
      try {
        // `callerOf` returned it.
        const principal = principalOf(caller as Caller, knownKeys, revision);
        if (!read || !principal) return undefined;
        admitTo(route.endpoint, principal);
        const context = { catalog, usage, principal, viewer: viewerOf(principal), headOnly: false };
        return read.fromMemory(context, revision, input);
      } catch {
        return undefined; // the request is processed again, and receives the problem
      }
    },
  };
}

/** What `callerOf` returns. */
type Caller = typeof ANONYMOUS | KnownKey;

const principalOf = (caller: Caller, knownKeys: KnownKeys, revision: Revision): Principal | undefined =>
  'dated' in caller ? knownKeys.admit(caller, revision) : anonymous;
