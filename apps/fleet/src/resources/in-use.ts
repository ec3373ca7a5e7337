import { Problem } from '@svc/http';

/** Somebody who uses something: what it is, and its name. */
export interface User {
  readonly kind: string;
  readonly name: string;
}

/** @throws 409 where there are any, with who they are */
export function refuseInUse(users: readonly User[]): void {
  if (users.length === 0) return;
  const named = users.slice(0, 3).map(({ kind, name }) => `${kind} ${name}`);
  const more = users.length > named.length ? ` and ${users.length - named.length} more` : '';
  throw new Problem('in_use', `It is in use by ${named.join(', ')}${more}: end that first.`, {
    errors: users.map(({ kind, name }) => ({ path: kind, message: name })),
  });
}
