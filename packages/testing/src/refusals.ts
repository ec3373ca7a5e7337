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
  readonly everywhere: readonly NoInfer<Caller>[];
  readonly api: (caller: Caller) => Api;
}

const REFUSALS: readonly string[] = [
  'unauthenticated',
  'invalid_token',
  'insufficient_scope',
  'organization_suspended',
];

/** A caller who meets an endpoint, and the answer that is expected. */
interface Cell<Caller> {
  readonly endpoint: Endpoint;
  readonly caller: Caller;
  readonly verdict: Expected;
}

/** The cells of a matrix: all of them, or those that cover each caller with each access and each endpoint. */
export function cellsOf<Access extends string, Caller extends string>(
  { endpoints, expected, everywhere }: Omit<RefusalMatrix<Access, Caller>, 'api'>,
  isComplete: boolean,
): Cell<Caller>[] {
  return endpoints.flatMap((endpoint) => {
    const isFirstOfAccess = endpoint === endpoints.find(({ access }) => access === endpoint.access);
    const row = expected[endpoint.access as Access]; // the endpoints of a contract declare its accesses
    const callers = Object.keys(row) as Caller[]; // the keys of a record of callers
    return callers
      .filter((caller) => isComplete || isFirstOfAccess || everywhere.includes(caller))
      .map((caller) => ({ endpoint, caller, verdict: row[caller] }));
  });
}

/** Tests how endpoints answer each kind of caller. A new endpoint is covered as soon as it is declared. */
export function testRefusals<Access extends string, Caller extends string>(
  matrix: RefusalMatrix<Access, Caller>,
): void {
  const cells = cellsOf(matrix, byDepth({ short: false, full: true, long: true })).map((cell) => ({
    ...cell,
    title: `${cell.endpoint.method.toUpperCase()} ${cell.endpoint.path}`,
  }));

  test.each(cells)('$title for $caller: $verdict', async ({ endpoint, caller, verdict }) => {
    const path = endpoint.path.replace(/:\w+/g, 'nothing-of-this-name');
    const body = endpoint.bodyLimit > 0 ? { body: {} } : {};
    const answer = await matrix.api(caller).send({ method: endpoint.method.toUpperCase(), path, ...body });
    if (verdict === 'admitted') expect(REFUSALS).not.toContain(answer.body?.code);
    else expect(answer.body?.code).toBe(verdict);
    if (answer.status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="\w+"/);
  });
}
