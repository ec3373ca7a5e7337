/** The roles of the fleet, in ascending order of permissions. */
export const fleetRoles = ['viewer', 'operator', 'admin'] as const;
export type FleetRole = (typeof fleetRoles)[number];

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
  'secrets-read',
  'secrets-write',
  'values-reveal',
] as const;
export type FleetAccess = (typeof fleetAccesses)[number];
