import { aTemplate } from '../a-template.ts';
import {
  aCategory,
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

/** Text in every bad answer. No answer or state of the fleet contains it. */
export const SLIP = 'a-slip-of-the-hub';

/** A way in which a hub fails a call, and the reason that the fleet gives. */
export interface Failure {
  readonly what: string;
  readonly how: Behaviour;
  readonly reason: RegExp;
  /** The fleet gives up when the time for an answer has passed. */
  readonly timesOut?: boolean;
}

const NO_CATALOG = /not a catalog/;
const NO_ANSWER = /does not answer/;
const NOT_STORED = /could not store/;
const NO_DAY = '2026-02-31T00:00:00.000Z';

const ofAnyCall: readonly Failure[] = [
  { what: 'refuses the key', how: refuse('invalid_token', SLIP), reason: /refused the API key \(401\)/ },
  { what: 'suspended the organization', how: refuse('organization_suspended', SLIP), reason: /suspended .*\(403\)/ },
  { what: 'refuses with 403', how: refuse('insufficient_scope', SLIP), reason: /403/ },
  { what: 'knows no such address', how: refuse('not_found', SLIP), reason: /404/ },
  { what: 'is asked too often', how: refuse('rate_limited', SLIP, { 'Retry-After': '7' }), reason: /429/ },
  { what: 'fails', how: refuse('internal', SLIP), reason: /500/ },
  { what: 'is not available', how: refuse('unavailable', SLIP), reason: /503/ },
  { what: 'fails in HTML', how: send(502, 'text/html', `<p>${SLIP}`), reason: /502/ },
  {
    what: 'redirects',
    how: send(302, 'text/plain', SLIP, { Location: `http://${SLIP}/` }),
    reason: /redirect \(302\)/,
  },
  { what: 'answers 204', how: ({ res }) => void res.writeHead(204).end(), reason: /204/ },
  { what: 'answers HTML', how: send(200, 'text/html', `<p>${SLIP}`), reason: NO_CATALOG },
  { what: 'answers garbage', how: send(200, 'application/json', `{"${SLIP}`), reason: NO_CATALOG },
  { what: 'answers nothing', how: send(200, 'application/json', ''), reason: NO_CATALOG },
  { what: 'answers other JSON', how: send(200, 'application/json', `["${SLIP}"]`), reason: NO_CATALOG },
  { what: 'breaks off in the middle', how: breakOff, reason: NO_ANSWER },
  { what: 'sends more than is taken', how: send(200, 'application/json', SLIP.repeat(300_000)), reason: NO_ANSWER },
  { what: 'sends without an end', how: neverEnd, reason: NO_ANSWER },
  { what: 'sends a byte now and then', how: trickle, reason: NO_ANSWER, timesOut: true },
  { what: 'closes the connection', how: closeConnection, reason: NO_ANSWER },
  { what: 'never answers', how: neverAnswer, reason: NO_ANSWER, timesOut: true },
];

const misfit = (what: string, change: Parameters<typeof sendChanged>[0], reason = NO_CATALOG): Failure => ({
  what,
  how: sendChanged(change),
  reason,
});
const withTemplates = (what: string, templates: readonly object[], reason?: RegExp) =>
  misfit(what, (good) => ({ ...good, templates }), reason);
const oneTemplate = (what: string, given: object, reason?: RegExp) =>
  withTemplates(what, [{ ...aTemplate(), name: SLIP, ...given }], reason);

const ofUpdates: readonly Failure[] = [
  misfit('leaves removed out', ({ removed: _, ...rest }) => rest),
  misfit('leaves the cursor out', ({ cursor: _, ...rest }) => rest),
  misfit('leaves has_more out', ({ has_more: _, ...rest }) => rest),
  misfit('leaves reset out', ({ reset: _, ...rest }) => rest),
  misfit('sends a checked_at that is none', (good) => ({ ...good, checked_at: 'now' })),
  oneTemplate('leaves a member of a template out', { slug: undefined }),
  oneTemplate('sends an id that is none', { id: SLIP }, NOT_STORED),
  oneTemplate('sends a category that is none', { category_id: SLIP }, NOT_STORED),
  oneTemplate('sends a NUL', { description: '\0' }, NOT_STORED),
  oneTemplate('sends half a character', { description: '\ud800' }, NOT_STORED),
  oneTemplate('sends a day that does not exist', { updated_at: NO_DAY }, NOT_STORED),
  withTemplates('sends one template twice', Array(2).fill(aTemplate({ name: SLIP })), NOT_STORED),
  misfit('removes an id that is none', (good) => ({ ...good, removed: [{ id: SLIP }] }), NOT_STORED),
  misfit('sends a NUL in the cursor', (good) => ({ ...good, cursor: '\0' }), NOT_STORED),
];

const withCategories = (what: string, categories: unknown, reason?: RegExp) =>
  misfit(what, () => ({ categories }), reason);
const bad = aCategory({ name: SLIP });

const ofCategories: readonly Failure[] = [
  withCategories('sends no list', null),
  withCategories('leaves a member of a category out', [{ ...bad, sort_order: undefined }]),
  withCategories('sends an order that is no whole number', [{ ...bad, sort_order: 1.5 }]),
  withCategories('sends an id that is none', [{ ...bad, id: SLIP }], NOT_STORED),
  withCategories('sends an order out of range', [{ ...bad, sort_order: 2 ** 40 }], NOT_STORED),
  withCategories('sends a NUL', [{ ...bad, description: '\0' }], NOT_STORED),
  withCategories('sends one category twice', [bad, bad], NOT_STORED),
];

const withOrganization = (what: string, change: object | null, reason?: RegExp) =>
  misfit(what, ({ organization }) => ({ organization: change && { ...organization, ...change } }), reason);

const badRequest = { what: 'finds the request bad', how: refuse('validation_failed', SLIP), reason: /400/ };

const ofOrganization: readonly Failure[] = [
  withOrganization('sends no organization', null),
  withOrganization('leaves the tier out', { tier: undefined }),
  withOrganization('sends a status that is none', { status: SLIP }),
  withOrganization('sends a NUL', { name: '\0' }, NOT_STORED),
];

/** All the ways in which a call fails, except a 400 to a cursor: the fleet remembers that one. */
export const failuresOf: Readonly<Record<Call, readonly Failure[]>> = {
  organization: [...ofAnyCall, badRequest, ...ofOrganization],
  updates: [...ofAnyCall, ...ofUpdates],
  categories: [...ofAnyCall, badRequest, ...ofCategories],
};
