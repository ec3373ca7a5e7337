import { expect } from '@jest/globals';
import type { Api } from '@svc/testing';

/** What a refusal says is expected. */
const EXPECTED = {
  since: /ISO 8601 timestamp with a zone, such as .*Z \(encode a \+ as %2B\)/,
  cursor: /`start`, or the cursor of the last answer as it was given/,
  limit: /whole number from 1 to 1000/,
  once: /must be given once/,
  either: /choose one of the two/,
  required: /is required: 1970-01-01T00:00:00Z the first time, then the last checked_at \(or use cursor\)/,
  whole: /goes with cursor only: an answer to since is whole/,
  known: /unknown parameter; allowed: since, cursor, limit/,
  encoded: /must be percent-encoded UTF-8/,
  wellFormed: /well-formed text without the character NUL/,
  allowedName: /name is not allowed/,
};
export type Expectation = keyof typeof EXPECTED;

/** Asks for updates, and expects a 400 that names the parameter and says what it should be. */
export async function expectRefused(api: Api, query: string, [path, expected]: readonly [string, Expectation]) {
  const { status, body } = await api.get(`/api/v1/catalog/templates/updates${query}`);
  expect({ query, status, code: body.code }).toEqual({ query, status: 400, code: 'validation_failed' });
  const complaint = { path, message: expect.stringMatching(EXPECTED[expected]) };
  expect({ query, errors: body.errors }).toEqual({ query, errors: expect.arrayContaining([complaint]) });
  expect(body.detail).toContain(body.errors[0].message);
}
