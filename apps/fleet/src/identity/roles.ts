import type { FleetRole } from '@svc/contract/fleet';

/** Roles in ascending order of their permissions. */
export const ROLES_ASCENDING: readonly FleetRole[] = ['viewer', 'operator', 'admin'];

/** The role with fewer permissions; undefined if one of them is no role. */
export const lowerRole = (one: FleetRole | undefined, other: FleetRole | undefined): FleetRole | undefined =>
  one === undefined || other === undefined ? undefined : ROLES_ASCENDING.find((role) => role === one || role === other);

export interface RoleSettings {
  /** Name of a claim, or a path of names separated by dots to a nested claim. */
  readonly roleClaim: string;
  /** Maps values of the claim to roles. Without a map, the value of the claim is the role. */
  readonly roleMap?: Readonly<Record<string, FleetRole>> | null | undefined;
  /** The role of persons to whom the claim gives no role. */
  readonly defaultRole?: FleetRole | undefined;
}

/** The role that the claims of a person give. If they give several, the highest one. */
export function roleOf(
  claims: Readonly<Record<string, unknown>>,
  { roleClaim, roleMap, defaultRole }: RoleSettings,
): FleetRole | undefined {
  // `reduce` takes the type of its result from the initial value.
  const value = own(claims, roleClaim) ?? roleClaim.split('.').reduce(own, claims as unknown);
  const values = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
  const roles = values.map((text) => (roleMap ? own(roleMap, text) : text));
  return ROLES_ASCENDING.findLast((role) => roles.includes(role)) ?? defaultRole;
}

/** An own property of an object, never an inherited one. */
const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? // Every object can be read this way; the result stays unknown.
      (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
