import { translateDatabaseError } from '@svc/database';
import { Problem } from '@svc/http';

const slugTaken = () => new Problem('slug_taken', 'This slug is taken: choose another.');
const unknownCategory = () => new Problem('unknown_category', 'category_id names no category.');
const unknownOrganization = (member: string) => () =>
  new Problem('unknown_organization', `${member} names no organization.`);

/** What a violated constraint says to the caller. */
const constraints = {
  templates_slug_key: slugTaken,
  categories_slug_key: slugTaken,
  organizations_slug_key: slugTaken,
  templates_category_id_fkey: unknownCategory,
  catalog_access_category_id_fkey: unknownCategory,
  templates_owner_org_id_fkey: unknownOrganization('owner_org_id'),
  catalog_access_org_id_fkey: unknownOrganization('org_id'),
  users_org_id_fkey: unknownOrganization('org_id'),
};

/** Runs database work; what the database refuses, or can't do now, is thrown as a Problem. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translateDatabaseError(error, constraints);
  }
}
