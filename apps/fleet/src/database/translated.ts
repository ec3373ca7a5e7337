import { translateDatabaseError } from '@svc/database';

/** Runs database work; what the database can't do now is thrown as a Problem. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translateDatabaseError(error, {});
  }
}
