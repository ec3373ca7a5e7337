import { expect } from '@jest/globals';
import type { Api } from '@svc/testing';

/** The expected error messages. */
const EXPECTED = {
  since: /ISO 8601 timestamp with a time zone, such as .*Z \(encode \+ as %2B in a URL\)/,
  cursor: /`start`, or the unchanged cursor of the last response/,
  limit: /integer from 1 to 1000/,
  once: /must not be repeated/,
  either: /must not be combined with since/,
  required: /is required unless cursor is set: 1970-01-01T00:00:00Z in the first request, then the last checked_at/,
  whole: /requires cursor; a response to since is not paged/,
  known: /unknown parameter; (?:did you mean since\?; )?allowed: since, cursor, limit/,
  encoded: /must be percent-encoded UTF-8/,
  wellFormed: /well-formed Unicode without the character NUL/,
  allowedName: /name that is not allowed/,
};
export type Expectation = keyof typeof EXPECTED;

/**
 * Requests updates, and expects a 400 with an error for the parameter that explains the allowed
 * value.
 */
export async function expectRefused(api: Api, query: string, [path, expected]: readonly [string, Expectation]) {
  const { status, body } = await api.get(`/api/v1/catalog/templates/updates${query}`);
  expect({ query, status, code: body.code }).toEqual({ query, status: 400, code: 'validation_failed' });
  const fieldError = { path, message: expect.stringMatching(EXPECTED[expected]) };
  expect({ query, errors: body.errors }).toEqual({ query, errors: expect.arrayContaining([fieldError]) });
  expect(body.detail).toContain(body.errors[0].message);
}
