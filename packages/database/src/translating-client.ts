import { type ConstraintProblems, translateDatabaseError } from './translate-error.ts';

/** The members of a generated Prisma client that translation needs. */
interface Extendable {
  // biome-ignore lint/suspicious/noExplicitAny: the type differs between generated clients
  $extends(extension: any): any;
}

/**
 * A client whose errors are translated: of queries, also in transactions, and of transactions
 * themselves (no connection within the timeout, timeout, failed commit). Other errors of the code
 * in a transaction are not changed.
 */
export function translatingClient<Client extends Extendable>(client: Client, constraints: ConstraintProblems): Client {
  const translate = async (work: () => Promise<unknown>) => {
    try {
      return await work();
    } catch (error) {
      throw translateDatabaseError(error, constraints);
    }
  };
  const queries = client.$extends({
    query: {
      $allOperations: ({ args, query }: { args: unknown; query: (args: unknown) => Promise<unknown> }) =>
        translate(() => query(args)),
    },
  });
  return queries.$extends({
    client: { $transaction: (...given: unknown[]) => translate(() => queries.$transaction(...given)) },
  });
}
