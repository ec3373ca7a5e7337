import type { ConstraintProblems } from '@svc/database';
import { Problem } from '@svc/http';

const slugTaken = () => new Problem('slug_taken', 'This slug is already in use. Choose another slug.');
const unknownCategory = () => new Problem('unknown_category', 'No category has the id in category_id.');
const unknownOrganization = (member: string) => () =>
  new Problem('unknown_organization', `No organization has the id in ${member}.`);

/** The problem that a caller receives for each violated constraint. */
export const constraintProblems: ConstraintProblems = {
  templates_slug_key: slugTaken,
  applications_slug_key: slugTaken,
  categories_slug_key: slugTaken,
  organizations_slug_key: slugTaken,
  webhooks_name_key: () => new Problem('name_taken', 'Another webhook has this name. Choose another name.'),
  templates_category_id_fkey: unknownCategory,
  applications_category_id_fkey: unknownCategory,
  catalog_access_category_id_fkey: unknownCategory,
  service_token_categories_category_id_fkey: () =>
    new Problem('unknown_category', 'A category does not exist any longer.'),
  templates_owner_org_id_fkey: unknownOrganization('owner_org_id'),
  applications_owner_org_id_fkey: unknownOrganization('owner_org_id'),
  catalog_access_org_id_fkey: unknownOrganization('org_id'),
  users_org_id_fkey: unknownOrganization('org_id'),
};
