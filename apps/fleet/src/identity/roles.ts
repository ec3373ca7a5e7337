import type { FleetRole } from '@svc/contract/fleet';

/** Roles in ascending order of their permissions. */
export const ROLES_ASCENDING: readonly FleetRole[] = ['viewer', 'operator', 'admin'];

/** A role, and those with more permissions. */
export const rolesFrom = (role: FleetRole): readonly FleetRole[] =>
  ROLES_ASCENDING.slice(ROLES_ASCENDING.indexOf(role));

/** The role with fewer permissions; undefined if one of them is no role. */
export const lowerRole = (one: FleetRole | undefined, other: FleetRole | undefined): FleetRole | undefined =>
  one === undefined || other === undefined ? undefined : ROLES_ASCENDING.find((role) => role === one || role === other);

export interface RoleSettings {
  /**
   * Name of a claim, or a path of names separated by dots to a nested claim. A name can contain
   * dots.
   */
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
  const value = claimAt(claims, roleClaim);
  const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === 'string');
  // A text can contain several roles, as the claim `scope` does, or be a role with blanks.
  const values = texts.flatMap((text) => [text, ...text.split(/[ ,\t\r\n]+/)]);
  const roles = values.map((text) => (roleMap ? own(roleMap, text) : text));
  return ROLES_ASCENDING.findLast((role) => roles.includes(role)) ?? defaultRole;
}

/** The value of a claim; undefined if there is none. */
export function claimAt(claims: Readonly<Record<string, unknown>>, roleClaim: string): unknown {
  for (const path of claimPaths(roleClaim)) {
    // `reduce` takes the type of its result from the initial value.
    const value = path.reduce(own, claims as unknown);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

const MAX_NAMES = 6;

/**
 * The paths that the name of a claim can mean, because names can contain dots: `a.b.c` is a claim
 * of this name, `c` in `a.b`, `b.c` in `a`, or `c` in `b` in `a`, in this order. With more than six
 * names, only the first and the last one count.
 */
export function claimPaths(roleClaim: string): string[][] {
  const [first = '', ...others] = roleClaim.split('.');
  if (others.length >= MAX_NAMES) return [[roleClaim], [first, ...others]];
  const paths = others.reduce<string[][]>(
    (known, name) =>
      known.flatMap((path) => [
        [...path.slice(0, -1), `${path.at(-1)}.${name}`],
        [...path, name],
      ]),
    [[first]],
  );
  return paths.sort((one, other) => one.length - other.length);
}

/** An own property of an object, never an inherited one. */
const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? // Every object can be read this way; the result stays unknown.
      (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
