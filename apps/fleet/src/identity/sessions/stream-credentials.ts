import { setTimeout as pause } from 'node:timers/promises';
import { hashSecretToken, isJwtShaped } from '@svc/auth';
import type { Bearer } from '@svc/auth/oidc';
import type { FleetAccess } from '@svc/contract/fleet';
import type { Log } from '@svc/http';
import { decodeJwt } from 'jose';
import { findTokens, presentRole } from '../mcp-tokens.ts';
import type { FleetPolicy } from '../policy.ts';
import type { Caller } from '../principal.ts';
import type { IdentityServices } from '../services.ts';
import { userOf } from '../users.ts';

type UsedServices = Pick<IdentityServices, 'database' | 'sessions' | 'settings' | 'providers' | 'policy'>;

/** A response that is being streamed, with the credential of its request. */
export interface OpenStream {
  readonly credential: string;
  readonly principal: Caller;
  readonly access: FleetAccess;
  /** Whether it also ends when the caller gets another role that admits the access. */
  readonly endsWithRole?: boolean;
  /** Closes the connection, so that the client detects that the response is incomplete. */
  end(): void;
}

/**
 * The time between two checks of all streams, and the time limit of one attempt. A failed check is
 * repeated once.
 */
const INTERVAL_MS = 2000;
const ATTEMPT_MS = 1400;

/** The streams of a process, which end soon after their credentials. */
export interface StreamCredentials {
  /** Checks the credential of a stream until `remove` is called. */
  add(stream: OpenStream): { remove(): void };
}

/**
 * Ends streams within five seconds after their credential was revoked, has expired or lost its
 * permission. All streams share the queries of a check, so that their number does not increase the
 * load. If the check fails, all streams end, because another replica may have revoked their
 * credentials.
 */
export function createStreamCredentials(
  services: UsedServices,
  log: Log,
  attemptMs: number = ATTEMPT_MS,
): StreamCredentials {
  const streams = new Set<OpenStream>();
  let isRunning = false;
  const check = async () => {
    const checked = [...streams];
    const attempt = () => withinLimit(currentCallers(services, checked), attemptMs);
    const callers = await attempt().catch(attempt);
    for (const stream of checked) if (!isAdmitted(services.policy, stream, callers.get(stream))) stream.end();
  };
  const run = async () => {
    while (streams.size > 0) {
      await pause(INTERVAL_MS, undefined, { ref: false });
      await check().catch((error: unknown) => {
        log.warn({ err: error, streams: streams.size }, 'credentials of streams cannot be checked; the streams end');
        for (const { end } of streams) end();
      });
    }
    isRunning = false;
  };
  return {
    add: (stream) => {
      streams.add(stream);
      if (!isRunning) {
        isRunning = true;
        void run();
      }
      return { remove: () => streams.delete(stream) };
    },
  };
}

const isAdmitted = (
  policy: FleetPolicy,
  { credential, principal, access, endsWithRole = false }: OpenStream,
  caller: Caller | undefined,
) =>
  caller !== undefined &&
  !hasExpired(credential) &&
  policy[access](caller) === true &&
  !(endsWithRole && caller.role !== principal.role);

/** Whether a JWT has expired. Its issuer and signature were verified when the stream was opened. */
const hasExpired = (credential: string) =>
  isJwtShaped(credential) && (decodeJwt(credential).exp ?? Number.POSITIVE_INFINITY) * 1000 <= Date.now();

async function withinLimit<T>(work: Promise<T>, limitMs = ATTEMPT_MS): Promise<T> {
  const late = new AbortController();
  const limit = pause(limitMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`the check takes longer than ${limitMs} ms`);
  });
  limit.catch(() => undefined); // aborted
  return Promise.race([work, limit]).finally(() => late.abort());
}

type Callers = ReadonlyMap<OpenStream, Caller>;

/**
 * The current principals of streams, with the same rules as for requests. Streams whose credential
 * is invalid have none.
 */
async function currentCallers(services: UsedServices, streams: readonly OpenStream[]): Promise<Callers> {
  const kindOf = ({ principal }: OpenStream) =>
    principal.kind === 'token' ? 'token' : principal.sessionId === undefined ? 'provider' : 'session';
  const ofKind = (kind: ReturnType<typeof kindOf>) => streams.filter((stream) => kindOf(stream) === kind);
  const found = await Promise.all([
    callersOfTokens(services, ofKind('token')),
    callersOfSessions(services, ofKind('session')),
    callersOfProvider(services, ofKind('provider')),
  ]);
  return new Map(found.flat());
}

type Found = readonly (readonly [OpenStream, Caller])[];

async function callersOfTokens({ database, settings }: UsedServices, streams: readonly OpenStream[]): Promise<Found> {
  if (streams.length === 0) return [];
  const hashes = streams.map(({ credential }) => hashSecretToken(credential));
  const tokens = await findTokens(database, hashes);
  const found = await Promise.all(
    streams.map(async (stream, index) => {
      const { principal } = stream;
      const token = tokens.get(hashes[index] ?? '');
      if (!token?.active || principal.kind !== 'token') return [];
      return [[stream, { ...principal, role: await presentRole(token, settings) }] as const];
    }),
  );
  return found.flat();
}

const sessionOf = ({ principal }: OpenStream) => ('sessionId' in principal ? (principal.sessionId ?? '') : '');

async function callersOfSessions({ database, sessions }: UsedServices, streams: readonly OpenStream[]): Promise<Found> {
  if (streams.length === 0) return [];
  const people = await sessions.findPeople(database.client, streams.map(sessionOf));
  return streams.flatMap((stream) => {
    const person = people.get(sessionOf(stream));
    return person ? [[stream, person] as const] : [];
  });
}

async function callersOfProvider(
  { database, settings, providers }: UsedServices,
  streams: readonly OpenStream[],
): Promise<Found> {
  if (streams.length === 0) return [];
  const oidc = await settings.oidc();
  const provider = providers.of(oidc);
  const ids = streams.flatMap(({ principal }) => (principal.kind === 'user' ? [principal.id] : []));
  const credentials = [...new Set(streams.map(({ credential }) => credential))];
  const [users, verified] = await Promise.all([
    database.client.user.findMany({ where: { id: { in: ids }, iss: oidc.issuer, removed_at: null, blocked_at: null } }),
    Promise.all(credentials.map((credential) => provider && verifyUnlessUnavailable(provider, credential))),
  ]);
  return streams.flatMap((stream) => {
    const { principal, credential } = stream;
    const user = users.find(({ id }) => 'id' in principal && id === principal.id);
    const bearer = verified[credentials.indexOf(credential)];
    if (!user || !bearer) return [];
    const claims = bearer === 'unavailable' ? user.claims : { ...bearer.claims };
    return [[stream, userOf({ ...user, claims }, oidc, undefined)] as const];
  });
}

/**
 * A provider that does not respond ends no stream, because it ends no session either. Opaque tokens
 * are cached for 30 s.
 */
const verifyUnlessUnavailable = (
  provider: { verifyBearer(token: string): Promise<Bearer | undefined> },
  credential: string,
): Promise<Bearer | 'unavailable' | undefined> =>
  withinLimit(provider.verifyBearer(credential)).catch(() => 'unavailable' as const);
