import {
  type Behaviour,
  breakOff,
  type Call,
  closeConnection,
  neverAnswer,
  neverEnd,
  refuse,
  send,
  sendChanged,
  trickle,
} from '../fake-hub.ts';

/** Text in every bad response. No response or state of the fleet contains it. */
export const LEAK_MARKER = 'a-slip-of-the-hub';

/** A way in which a hub fails a call, and the reason that the fleet reports. */
export interface Failure {
  readonly what: string;
  readonly how: Behaviour;
  readonly reason: RegExp;
  /** Whether the fleet times out. */
  readonly timesOut?: boolean;
}

const NO_CATALOG = /not a catalog/;
const NO_ANSWER = /does not respond/;
const NOT_STORED = /could not store/;

const ofAnyCall: readonly Failure[] = [
  { what: 'rejects the key', how: refuse('invalid_token', LEAK_MARKER), reason: /refused the API key \(401\)/ },
  {
    what: 'has suspended the organization',
    how: refuse('organization_suspended', LEAK_MARKER),
    reason: /suspended .*\(403\)/,
  },
  { what: 'answers 403', how: refuse('insufficient_scope', LEAK_MARKER), reason: /403/ },
  { what: 'answers 404', how: refuse('not_found', LEAK_MARKER), reason: /404/ },
  { what: 'answers 429', how: refuse('rate_limited', LEAK_MARKER, { 'Retry-After': '7' }), reason: /429/ },
  { what: 'answers 500', how: refuse('internal', LEAK_MARKER), reason: /500/ },
  { what: 'answers 503', how: refuse('unavailable', LEAK_MARKER), reason: /503/ },
  { what: 'answers 502 with HTML', how: send(502, 'text/html', `<p>${LEAK_MARKER}`), reason: /502/ },
  {
    what: 'redirects',
    how: send(302, 'text/plain', LEAK_MARKER, { Location: `http://${LEAK_MARKER}/` }),
    reason: /redirect \(302\)/,
  },
  { what: 'answers 204', how: ({ res }) => void res.writeHead(204).end(), reason: /204/ },
  { what: 'answers HTML', how: send(200, 'text/html', `<p>${LEAK_MARKER}`), reason: NO_CATALOG },
  { what: 'answers invalid JSON', how: send(200, 'application/json', `{"${LEAK_MARKER}`), reason: NO_CATALOG },
  { what: 'answers with an empty body', how: send(200, 'application/json', ''), reason: NO_CATALOG },
  { what: 'answers other JSON', how: send(200, 'application/json', `["${LEAK_MARKER}"]`), reason: NO_CATALOG },
  { what: 'closes the connection in the middle', how: breakOff, reason: NO_ANSWER },
  {
    what: 'sends a response that is too large',
    how: send(200, 'application/json', LEAK_MARKER.repeat(300_000)),
    reason: NO_ANSWER,
  },
  { what: 'sends an endless response', how: neverEnd, reason: NO_ANSWER },
  { what: 'sends its response very slowly', how: trickle, reason: NO_ANSWER, timesOut: true },
  { what: 'closes the connection', how: closeConnection, reason: NO_ANSWER },
  { what: 'never answers', how: neverAnswer, reason: NO_ANSWER, timesOut: true },
];

const misfit = (what: string, change: Parameters<typeof sendChanged>[0], reason = NO_CATALOG): Failure => ({
  what,
  how: sendChanged(change),
  reason,
});

const ofUpdates: readonly Failure[] = [
  misfit('omits removed', ({ removed: _, ...rest }) => rest),
  misfit('omits the cursor', ({ cursor: _, ...rest }) => rest),
  misfit('omits has_more', ({ has_more: _, ...rest }) => rest),
  misfit('omits reset', ({ reset: _, ...rest }) => rest),
  misfit('sends an invalid checked_at', (good) => ({ ...good, checked_at: 'now' })),
  misfit('omits templates', ({ templates: _, ...rest }) => rest),
  misfit('sends an object instead of a list', (good) => ({ ...good, templates: { [LEAK_MARKER]: 1 } })),
  misfit('sends more templates than a page can have', (good) => ({
    ...good,
    templates: Array(1001).fill(LEAK_MARKER),
  })),
  misfit('sends a cursor that is too long', (good) => ({ ...good, cursor: LEAK_MARKER.repeat(300) })),
  misfit('sends NUL in the cursor', (good) => ({ ...good, cursor: '\0' }), NOT_STORED),
];

const withCategories = (what: string, categories: unknown) => misfit(what, () => ({ categories }));

const ofCategories: readonly Failure[] = [
  withCategories('sends null instead of a list', null),
  withCategories('sends more categories than a fleet reads', Array(10_001).fill(LEAK_MARKER)),
];

const withOrganization = (what: string, change: object | null, reason?: RegExp) =>
  misfit(what, ({ organization }) => ({ organization: change && { ...organization, ...change } }), reason);

const badRequest = { what: 'answers 400', how: refuse('validation_failed', LEAK_MARKER), reason: /400/ };

const ofOrganization: readonly Failure[] = [
  withOrganization('sends no organization', null),
  withOrganization('omits the tier', { tier: undefined }),
  withOrganization('sends a status that is not text', { status: [LEAK_MARKER] }),
  withOrganization('sends NUL', { name: '\0' }, NOT_STORED),
];

/** All the ways in which a call fails, except a 400 to a cursor, which changes the stored state. */
export const failuresOf: Readonly<Record<Call, readonly Failure[]>> = {
  organization: [...ofAnyCall, badRequest, ...ofOrganization],
  updates: [...ofAnyCall, ...ofUpdates],
  categories: [...ofAnyCall, badRequest, ...ofCategories],
};
