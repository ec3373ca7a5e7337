import type { ConstraintProblems } from '@svc/database';
import { Problem } from '@svc/http';

/** The problem that a caller receives for each violated constraint. */
export const constraintProblems: ConstraintProblems = {
  users_email_key: () =>
    new Problem('email_taken', 'Another user of this fleet has this e-mail. E-mails must be unique.'),
  ...Object.fromEntries(
    (
      [
        'hosts',
        'clusters',
        'workloads',
        'deployments',
        'applications',
        'volumes',
        'secrets',
        'webhooks',
        'sources',
      ] as const
    ).map((table) => [
      `${table}_name_key`,
      () => new Problem('name_taken', 'Another resource of this kind has this name. Choose another name.'),
    ]),
  ),
};
