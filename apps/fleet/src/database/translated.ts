import { translateDatabaseError } from '@svc/database';
import { Problem } from '@svc/http';

/** What a violated constraint says to the caller. */
const constraints = {
  users_email_key: () => new Problem('email_taken', 'A user of this fleet has this e-mail: each has their own.'),
  ...Object.fromEntries(
    (['hosts', 'clusters', 'workloads', 'deployments', 'volumes', 'secrets'] as const).map((table) => [
      `${table}_name_key`,
      () => new Problem('name_taken', 'The fleet has another of this kind with this name: choose another name.'),
    ]),
  ),
};

/** Runs database work; what the database refuses, or can't do now, is thrown as a Problem. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translateDatabaseError(error, constraints);
  }
}
