import { t } from '../shared/texts/texts.ts';

/** The roles of users at the hub. */
export const roles = [
  { value: 'user', label: t('User') },
  { value: 'admin', label: t('Administrator') },
  { value: 'superadmin', label: t('Superadministrator') },
] as const;

/** The roles of members in their organization. */
export const orgRoles = [
  { value: 'member', label: t('Member') },
  { value: 'org_admin', label: t('Administrator of the organization') },
] as const;

/** The name of a role. A later version can have others. */
export const roleLabel = (role: string): string =>
  [...roles, ...orgRoles].find(({ value }) => value === role)?.label ?? role;
