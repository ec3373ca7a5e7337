import { Prisma } from '../../generated/prisma/client.ts';
import type { Membership } from '../../render/rendering.ts';

/** The properties of a deployment that determine its network, and its name in it. */
export interface Member {
  readonly id: string;
  readonly name: string;
  /** null: it is no part of an application. */
  readonly application: Membership | null;
}

/** The application of a deployment in the database. */
export const applicationOf = ({ application_id: id, part }: StoredMembership): Membership | null =>
  id && part ? { id, part } : null;

interface StoredMembership {
  readonly application_id?: string | null;
  readonly part?: string | null;
}

/** The application whose network a deployment belongs to; null: the network of all deployments without an application. */
export const networkOf = ({ application }: Member): string | null => application?.id ?? null;

/** How the other deployments of its application name a deployment. */
export const nameInApplication = ({ name, application }: Member): string => application?.part ?? name;

/** The same for a deployment `d` of the database. */
export const storedNameInApplication: Prisma.Sql = Prisma.sql`coalesce(d.part, d.name)`;
