import { expect, test } from '@jest/globals';
import type { Endpoint, ProblemCode } from '@svc/contract';
import type { Api } from './api.ts';

/** What a caller hears from an endpoint of an access: it is let in (whatever comes then), or refused with a code. */
export type Expected = 'admitted' | ProblemCode;

export interface RefusalMatrix<Access extends string, Caller extends string> {
  readonly endpoints: readonly Endpoint[];
  /** A row for each access and in it a cell for each kind of caller: one that is missing does not compile. */
  readonly expected: Readonly<Record<Access, Readonly<Record<Caller, Expected>>>>;
  readonly api: (caller: Caller) => Api;
}

const REFUSALS: readonly string[] = [
  'unauthenticated',
  'invalid_token',
  'insufficient_scope',
  'organization_suspended',
];

/** Tests every endpoint with every kind of caller: a new endpoint is covered the moment it is declared. */
export function testRefusals<Access extends string, Caller extends string>(
  matrix: RefusalMatrix<Access, Caller>,
): void {
  const cells = matrix.endpoints.flatMap((endpoint) =>
    Object.entries<Expected>(matrix.expected[endpoint.access as Access]).map(([caller, expected]) => ({
      endpoint,
      caller: caller as Caller, // the keys of a record of callers
      expected,
      title: `${endpoint.method.toUpperCase()} ${endpoint.path}`,
    })),
  );
  test.each(cells)('$title for $caller: $expected', async ({ endpoint, caller, expected }) => {
    const path = endpoint.path.replace(/:\w+/g, 'nothing-of-this-name');
    const body = endpoint.bodyLimit > 0 ? { body: {} } : {};
    const answer = await matrix.api(caller).send({ method: endpoint.method.toUpperCase(), path, ...body });
    if (expected === 'admitted') expect(REFUSALS).not.toContain(answer.body?.code);
    else expect(answer.body?.code).toBe(expected);
    if (answer.status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="\w+"/);
  });
}
