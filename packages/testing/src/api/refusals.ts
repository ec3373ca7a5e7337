import { expect, test } from '@jest/globals';
import type { Endpoint, ProblemCode } from '@svc/contract';
import { byDepth } from '../run/depth.ts';
import type { Api } from './api.ts';

/**
 * Whether an endpoint admits a caller (the response can still be an error), or the code with which
 * it rejects the caller.
 */
export type Expected = 'admitted' | ProblemCode;

export interface RefusalMatrix<Access extends string, Caller extends string> {
  readonly endpoints: readonly Endpoint[];
  /**
   * A row for each kind of access, with a cell for each kind of caller. A missing cell is a type
   * error.
   */
  readonly expected: Readonly<Record<Access, Readonly<Record<Caller, Expected>>>>;
  /**
   * The callers for every endpoint at each depth. At depth `short`, the others call only one
   * endpoint of each kind of access.
   */
  readonly everywhere: readonly NoInfer<Caller>[];
  readonly api: (caller: Caller) => Api;
}

const REFUSALS: readonly string[] = [
  'unauthenticated',
  'invalid_token',
  'insufficient_scope',
  'organization_suspended',
  'user_blocked',
];

/** A caller of an endpoint, and the expected response. */
interface Cell<Caller> {
  readonly endpoint: Endpoint;
  readonly caller: Caller;
  readonly verdict: Expected;
}

/**
 * The cells of a matrix: all, or a subset with each caller for each kind of access, and each
 * endpoint.
 */
export function cellsOf<Access extends string, Caller extends string>(
  { endpoints, expected, everywhere }: Omit<RefusalMatrix<Access, Caller>, 'api'>,
  isComplete: boolean,
): Cell<Caller>[] {
  return endpoints.flatMap((endpoint) => {
    const isFirstOfAccess = endpoint === endpoints.find(({ access }) => access === endpoint.access);
    // The endpoints of a contract have these kinds of access.
    const row = expected[endpoint.access as Access];
    const callers = Object.keys(row) as Caller[]; // the keys of a record of callers
    return callers
      .filter((caller) => isComplete || isFirstOfAccess || everywhere.includes(caller))
      .map((caller) => ({ endpoint, caller, verdict: row[caller] }));
  });
}

/** Tests how endpoints respond to each kind of caller. New endpoints are covered automatically. */
export function testRefusals<Access extends string, Caller extends string>(
  matrix: RefusalMatrix<Access, Caller>,
): void {
  const cells = cellsOf(matrix, byDepth({ short: false, full: true, long: true })).map((cell) => ({
    ...cell,
    title: `${cell.endpoint.method.toUpperCase()} ${cell.endpoint.path}`,
  }));

  test.each(cells)('$title for $caller: $verdict', async ({ endpoint, caller, verdict }) => {
    // A stream of events does not end. With an invalid query, its response is a 400 after the
    // caller was admitted.
    const query = endpoint.stream === 'text/event-stream' ? '?invalid=true' : '';
    const path = endpoint.path.replace(/:\w+/g, 'nothing-of-this-name') + query;
    const body = endpoint.bodyLimit > 0 ? { body: {} } : {};
    const response = await matrix.api(caller).send({ method: endpoint.method.toUpperCase(), path, ...body });
    if (verdict === 'admitted') expect(REFUSALS).not.toContain(response.body?.code);
    else expect(response.body?.code).toBe(verdict);
    if (response.status === 401) expect(response.headers['www-authenticate']).toMatch(/^Bearer realm="\w+"/);
  });
}
