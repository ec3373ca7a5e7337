type User = {
  sub: string;
  email: string;
  email_verified: boolean;
  name: string;
  role: 'admin' | 'operator' | 'viewer';
};

/** The users. A `sub` must never change, because services identify users by it. */
const users: readonly User[] = [
  { sub: 'dev-admin', email: 'admin@example.test', email_verified: true, name: 'Ada Admin', role: 'admin' },
  {
    sub: 'dev-operator',
    email: 'operator@example.test',
    email_verified: true,
    name: 'Olga Operator',
    role: 'operator',
  },
  { sub: 'dev-user', email: 'user@example.test', email_verified: true, name: 'Uma User', role: 'viewer' },
];

export const findUser = (sub: string | undefined) => users.find((user) => user.sub === sub);

/** The user with an e-mail, which is case-insensitive. */
export function findUserByEmail(email: string) {
  const normalized = email.trim().toLowerCase();
  return users.find((user) => user.email === normalized);
}
