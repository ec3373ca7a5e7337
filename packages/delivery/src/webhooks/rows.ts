import type { StatementQuery } from '@svc/database';
import { z } from 'zod';

/** The rows that a statement returns. */
export const rowsOf = async <T>(
  query: StatementQuery,
  schema: z.ZodType<T>,
  sql: string,
  ...values: readonly unknown[]
): Promise<T[]> => z.array(schema).parse(await query(sql, ...values));

const counted = z.tuple([z.object({ count: z.int() })]);

/** The number that a statement returns as `count`. */
export const countIn = (result: unknown): number => counted.parse(result)[0].count;
