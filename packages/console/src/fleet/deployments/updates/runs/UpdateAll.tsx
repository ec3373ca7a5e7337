import { CircleArrowUp } from 'lucide-react';
import { href } from '../../../../shared/routing/href.ts';
import { t } from '../../../../shared/texts/texts.ts';
import { ButtonLink } from '../../../../shared/ui/controls/Button.tsx';
import { formatCount } from '../../../../shared/ui/display/format.ts';
import type { SelectionParameters } from './run-selection.ts';

/** Leads to the review of the updates of all deployments that filters select; nothing without one. */
export const UpdateAll = ({
  count,
  filters = {},
  size,
}: {
  readonly count: number;
  readonly filters?: Partial<SelectionParameters>;
  readonly size?: 'small';
}) =>
  count > 0 && (
    <ButtonLink tone="primary" icon={CircleArrowUp} size={size} href={href('/updates/new', undefined, filters)}>
      {t('Update all {count}', { count: formatCount(count) })}
    </ButtonLink>
  );
