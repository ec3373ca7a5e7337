import { expect, test } from '@jest/globals';
import { fleetService, hubService, problemCodes, problemDocument, problems, problemsOf } from '../src/index.ts';

test.each(Object.entries(problems))('%s has an error status and a title', (code, { status, title }) => {
  expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(600);
  expect(title).toMatch(/^[A-Z].*[^.]$/);
});

test('a problem document cannot have a code that is not in the table', () => {
  const document = { type: 'about:blank', title: 't', status: 400, detail: 'd', request_id: 'r' };
  for (const code of problemCodes) expect(problemDocument.safeParse({ ...document, code }).success).toBe(true);
  expect(problemDocument.safeParse({ ...document, code: 'unknown_code' }).success).toBe(false);
});

const declared = [hubService, fleetService].flatMap((service) =>
  Object.values(service.endpoints).map((endpoint) => ({
    title: `${service.title} ${endpoint.operationId}`,
    codes: problemsOf(endpoint, service),
    hasParams: endpoint.path.includes(':'),
  })),
);

test.each(declared)('all problems of $title are in the table', ({ codes }) => {
  expect(codes.filter((code) => !Object.hasOwn(problems, code))).toEqual([]);
});

test.each(declared.filter(({ hasParams }) => hasParams))(
  '$title can return 404, because its path has a parameter',
  ({ codes }) => {
    expect(codes).toContain('not_found');
  },
);
