import { publishLimits } from '@svc/contract/hub';
import type { Extent } from '../../catalog/files/extent.ts';
import { callerKey, type Principal } from '../../identity/principal.ts';
import type { RequestContext } from '../request/context.ts';

/** What a caller imports and exports: a service token its categories, an administrator everything. */
export const extentOf = (principal: Principal): Extent =>
  principal.kind === 'service'
    ? { categoryIds: principal.categoryIds, limits: publishLimits }
    : { limits: publishLimits };

/** Runs an import or an export when it is the turn of the caller. @throws 503 */
export const inTurn = <T>({ publishQueue, principal, address }: RequestContext, work: () => Promise<T>): Promise<T> =>
  publishQueue.run(callerKey(principal, address), work);
