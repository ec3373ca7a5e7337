/** The roles of the fleet, in ascending order of permissions. */
export const fleetRoles = ['viewer', 'operator', 'admin'] as const;
export type FleetRole = (typeof fleetRoles)[number];

/** What needs the approval of a person before it happens, in ascending order of strictness. */
export const approvalLevels = ['none', 'deletions', 'all'] as const;
export type ApprovalLevel = (typeof approvalLevels)[number];

/** Rows of the fleet's policy table. */
export const fleetAccesses = [
  'anyone',
  'signed-in',
  'session',
  'local-session',
  'catalog-read',
  'catalog-sync',
  'people-read',
  'people-write',
  'settings',
  'audit',
  'resources-read',
  'resources-write',
  'plans-review',
  'secrets-read',
  'secrets-write',
  'values-reveal',
] as const;
export type FleetAccess = (typeof fleetAccesses)[number];
