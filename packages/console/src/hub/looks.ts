import { t } from '../shared/texts/texts.ts';
import { looks, type StatusLook } from '../shared/ui/display/Status.tsx';
import type { ApiKey } from './api.ts';

const keyLooks: Readonly<Record<ApiKey['status'], StatusLook>> = {
  active: looks.good(t('Active')),
  expired: looks.warning(t('Expired')),
  revoked: looks.off(t('Revoked')),
};

export const keyLook = ({ status }: Pick<ApiKey, 'status'>): StatusLook => keyLooks[status];

export const organizationLook = ({ status }: { readonly status: string }): StatusLook =>
  status === 'active' ? looks.good(t('Active')) : looks.off(t('Suspended'));

export const visibilityLook = (isPrivate: boolean): StatusLook =>
  isPrivate ? looks.off(t('Private')) : looks.neutral(t('Public'));
