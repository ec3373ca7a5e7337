import { expect, test } from '@jest/globals';
import type { Endpoint, ProblemCode } from '@svc/contract';
import type { Api } from './api.ts';
import { byDepth } from './depth.ts';

/** How an endpoint answers a caller: it admits the caller (whatever the answer is then), or refuses with a code. */
export type Expected = 'admitted' | ProblemCode;

export interface RefusalMatrix<Access extends string, Caller extends string> {
  readonly endpoints: readonly Endpoint[];
  /** A row for each access and in it a cell for each kind of caller: one that is missing does not compile. */
  readonly expected: Readonly<Record<Access, Readonly<Record<Caller, Expected>>>>;
  /** The callers that meet every endpoint at each depth. At depth `short`, the others meet one endpoint of each access. */
  readonly everywhere: readonly Caller[];
  readonly api: (caller: Caller) => Api;
}

const REFUSALS: readonly string[] = [
  'unauthenticated',
  'invalid_token',
  'insufficient_scope',
  'organization_suspended',
];

const IS_COMPLETE = byDepth({ short: false, full: true, long: true });

/** Tests how endpoints answer each kind of caller. A new endpoint is covered as soon as it is declared. */
export function testRefusals<Access extends string, Caller extends string>(
  matrix: RefusalMatrix<Access, Caller>,
): void {
  const { endpoints, expected, everywhere, api } = matrix;
  const cells = endpoints.flatMap((endpoint) => {
    const meetsAll = IS_COMPLETE || endpoint === endpoints.find(({ access }) => access === endpoint.access);
    const row = expected[endpoint.access as Access]; // the endpoints of a contract declare its accesses
    const callers = Object.keys(row) as Caller[]; // the keys of a record of callers
    return callers
      .filter((caller) => meetsAll || everywhere.includes(caller))
      .map((caller) => ({
        endpoint,
        caller,
        verdict: row[caller],
        title: `${endpoint.method.toUpperCase()} ${endpoint.path}`,
      }));
  });

  test.each(cells)('$title for $caller: $verdict', async ({ endpoint, caller, verdict }) => {
    const path = endpoint.path.replace(/:\w+/g, 'nothing-of-this-name');
    const body = endpoint.bodyLimit > 0 ? { body: {} } : {};
    const answer = await api(caller).send({ method: endpoint.method.toUpperCase(), path, ...body });
    if (verdict === 'admitted') expect(REFUSALS).not.toContain(answer.body?.code);
    else expect(answer.body?.code).toBe(verdict);
    if (answer.status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="\w+"/);
  });
}
