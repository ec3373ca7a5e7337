import type { FleetRole } from '@svc/contract/fleet';

/** From the least to the most. */
const RISING: readonly FleetRole[] = ['viewer', 'operator', 'admin'];

export interface RoleSettings {
  /** A claim by its name, or by dots into nested claims. */
  readonly roleClaim: string;
  /** Without one the claim's value is the role. */
  readonly roleMap?: Readonly<Record<string, FleetRole>> | null | undefined;
  /** For whom the claim gives no role. */
  readonly defaultRole?: FleetRole | undefined;
}

/** The role that a person's claims give: the highest of several. */
export function roleOf(
  claims: Readonly<Record<string, unknown>>,
  { roleClaim, roleMap, defaultRole }: RoleSettings,
): FleetRole | undefined {
  const value = own(claims, roleClaim) ?? roleClaim.split('.').reduce(own, claims as unknown);
  const words = (Array.isArray(value) ? value : [value]).filter((word) => typeof word === 'string');
  const given = words.map((word) => (roleMap ? own(roleMap, word) : word));
  return RISING.findLast((role) => given.includes(role)) ?? defaultRole;
}

/** A member of an object itself, never of what it inherits from. */
const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name] // any object may be read so; what comes is unknown
    : undefined;
