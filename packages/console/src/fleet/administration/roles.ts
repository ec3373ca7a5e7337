import { t } from '../../shared/texts/texts.ts';

/** The roles of users and tokens, with what they permit. */
export const roles = [
  { value: 'viewer', label: t('Viewer: sees everything, changes nothing') },
  { value: 'operator', label: t('Operator: deploys, and manages hosts, clusters and storage') },
  { value: 'admin', label: t('Admin: also manages secrets, users, tokens and settings') },
] as const;

const names = [
  { value: 'viewer', label: t('Viewer') },
  { value: 'operator', label: t('Operator') },
  { value: 'admin', label: t('Admin') },
] as const;

/** The roles as values of a filter. */
export const roleFilters = [{ value: '', label: t('All roles') }, ...names] as const;

/** The name of a role. A later version can have others. */
export const roleLabel = (role: string): string => names.find(({ value }) => value === role)?.label ?? role;
