import { useQuery } from '@tanstack/react-query';
import { CircleArrowUp } from 'lucide-react';
import { Link } from 'wouter';
import { href } from '../../../shared/routing/href.ts';
import { t } from '../../../shared/texts/texts.ts';
import { looks, Status, type StatusLook } from '../../../shared/ui/display/Status.tsx';
import { type Deployment, fleet } from '../../api.ts';

/** The filter of deployments for which an update is available, also if it is held. */
export const WITH_UPDATE = { update: 'available,held' } as const;

const availableLook: StatusLook = { tone: 'accent', icon: CircleArrowUp, label: t('Update') };
const heldLook = looks.warning(t('Update held'));

/** Leads to the review of the update, if one is available. */
export function UpdateMark({ deployment: { id, name, update } }: { readonly deployment: Deployment }) {
  if (!update) return null;
  const label = update.held ? t('Update held: {name}', { name }) : t('Update {name}', { name });
  return (
    <Link href={href('/deployments/:id/update', { id })} aria-label={label}>
      <Status {...(update.held ? heldLook : availableLook)} />
    </Link>
  );
}

/** The number of deployments for which an update is available, of those of a template if one is given. */
export function useUpdateCount(of: { readonly template?: string } = {}): number {
  const query = { ...of, ...WITH_UPDATE, limit: 1, view: 'summary' } as const;
  const { data } = useQuery(fleet.read('listDeployments', { query }));
  return data?.pagination.total ?? 0;
}

/** The number of applications for which an upgrade is available. */
export function useUpgradeCount(): number {
  const { data } = useQuery(fleet.read('listApplications', { query: { ...WITH_UPDATE, limit: 1 } }));
  return data?.pagination.total ?? 0;
}

export const updatesAvailable = (count: number): string =>
  t('{count, plural, one {# update available} other {# updates available}}', { count });
