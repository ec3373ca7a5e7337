import {
  Blocks,
  Boxes,
  Building2,
  ChartColumn,
  FolderTree,
  Grid3x3,
  KeyRound,
  KeySquare,
  PackageOpen,
  ScrollText,
  Users,
  UsersRound,
  Webhook,
} from 'lucide-react';
import { t } from '../shared/texts/texts.ts';
import { formatCount } from '../shared/ui/display/format.ts';
import type { NavGroup } from '../shared/ui/shell/Shell.tsx';

export const publicGroup: NavGroup = {
  items: [
    { href: '/', label: t('Catalog'), icon: Blocks },
    { href: '/applications', label: t('Applications'), icon: Boxes },
  ],
};

export const accountGroup: NavGroup = {
  label: t('Your organization'),
  items: [
    { href: '/organization', label: t('Organization'), icon: Building2 },
    { href: '/keys', label: t('API keys'), icon: KeyRound },
    { href: '/organization/audit', label: t('Changes'), icon: ScrollText },
  ],
};

/** The pages of administrators. `openRequests` is the number of access requests that are not decided. */
export const administrationGroup = (openRequests = 0): NavGroup => ({
  label: t('Administration'),
  items: [
    { href: '/statistics', label: t('Statistics'), icon: ChartColumn },
    { href: '/admin/templates', label: t('Templates'), icon: PackageOpen },
    { href: '/admin/applications', label: t('Applications'), icon: Boxes },
    { href: '/admin/categories', label: t('Categories'), icon: FolderTree },
    {
      href: '/admin/access',
      label: t('Access'),
      icon: Grid3x3,
      ...(openRequests > 0 && { count: <OpenRequests count={openRequests} /> }),
    },
    { href: '/admin/organizations', label: t('Organizations'), icon: UsersRound },
    { href: '/admin/users', label: t('Users'), icon: Users },
    { href: '/admin/keys', label: t('All API keys'), icon: KeyRound },
    { href: '/admin/service-tokens', label: t('Service tokens'), icon: KeySquare },
    { href: '/admin/webhooks', label: t('Webhooks'), icon: Webhook },
    { href: '/admin/audit', label: t('Audit log'), icon: ScrollText },
  ],
});

const OpenRequests = ({ count }: { readonly count: number }) => (
  <span className="badge">
    {formatCount(count)}
    <span className="visually-hidden">
      {' '}
      {t('{count, plural, one {open access request} other {open access requests}}', { count })}
    </span>
  </span>
);
