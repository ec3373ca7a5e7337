/** Rows of the hub's policy table. */
export const hubAccesses = [
  'anyone',
  'session',
  'catalog',
  'organization-key',
  'account',
  'account-change',
  'account-keys',
  'account-members',
  'admin',
  'publish-import',
  'publish-export',
] as const;
export type HubAccess = (typeof hubAccesses)[number];
