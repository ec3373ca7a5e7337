import { type ConstraintProblems, translateDatabaseError } from './translate-error.ts';

/** The members of a generated Prisma client that translation needs. */
interface Extendable {
  // biome-ignore lint/suspicious/noExplicitAny: each generated client declares extensions of its own schema
  $extends(extension: any): any;
}

/**
 * The client with all of its errors translated: of queries, inside transactions too, and of transactions themselves (no
 * connection in time, timeout, failed commit). What the code inside a transaction throws passes unchanged.
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
