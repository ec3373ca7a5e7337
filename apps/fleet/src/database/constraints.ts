import type { ConstraintProblems } from '@svc/database';
import { Problem } from '@svc/http';

/** The problem that a caller receives for each violated constraint. */
export const constraintProblems: ConstraintProblems = {
  users_email_key: () => new Problem('email_taken', 'A user of this fleet has this e-mail: each has their own.'),
  ...Object.fromEntries(
    (['hosts', 'clusters', 'workloads', 'deployments', 'volumes', 'secrets'] as const).map((table) => [
      `${table}_name_key`,
      () => new Problem('name_taken', 'The fleet has another of this kind with this name: choose another name.'),
    ]),
  ),
};
