import { fleetEndpoints } from '@svc/contract/fleet';
import { callerKey } from '../identity/principal.ts';
import { exportDocuments as exported } from '../plans/export.ts';
import { route } from './request/context.ts';

/** All documents are of one moment. Exports take turns with plans, because each can take as much time. */
export const exportDocuments = route(fleetEndpoints.exportDocuments, ({ database, planQueue, principal }, { query }) =>
  planQueue.run(callerKey(principal), () =>
    database.client.$transaction(
      async (transaction) => {
        await transaction.$executeRaw`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
        return exported(transaction, query);
      },
      { timeout: EXPORT_MS },
    ),
  ),
);

/** The longest time of an export. It holds no lock. */
const EXPORT_MS = 30_000;
