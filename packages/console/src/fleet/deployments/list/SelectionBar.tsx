import { CircleArrowUp, CirclePlay, CircleStop, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { href } from '../../../shared/routing/href.ts';
import { t } from '../../../shared/texts/texts.ts';
import { Button, ButtonLink } from '../../../shared/ui/controls/Button.tsx';
import { ActionDialog } from './ActionDialog.tsx';
import type { BulkAction } from './bulk-plan.ts';
import type { Selection } from './selection.tsx';

const actions = [
  { kind: 'start', label: t('Start'), icon: CirclePlay },
  { kind: 'stop', label: t('Stop'), icon: CircleStop },
  { kind: 'restart', label: t('Restart'), icon: RotateCw },
  { kind: 'delete', label: t('Delete'), icon: Trash2 },
] as const;

/** What can be done with the selected deployments. */
export function SelectionBar({ selection }: { readonly selection: Selection }) {
  const { selected, set, clear } = selection;
  const [action, setAction] = useState<BulkAction>();
  if (selected.size === 0 && action === undefined) return null;
  return (
    <section className="selection-bar" aria-label={t('Selection')}>
      <span role="status" className="strong">
        {t('{count, plural, one {# selected} other {# selected}}', { count: selected.size })}
      </span>
      {selected.size > 0 && (
        <ButtonLink
          size="small"
          icon={CircleArrowUp}
          href={href('/updates/new', undefined, { chosen: [...selected.keys()].join(',') })}
        >
          {t('Update')}
        </ButtonLink>
      )}
      {actions.map(({ kind, label, icon }) => (
        <Button
          key={kind}
          size="small"
          icon={icon}
          tone={kind === 'delete' ? 'danger' : undefined}
          blocked={selected.size === 0 ? t('Nothing is selected.') : undefined}
          aria-haspopup="dialog"
          onClick={() => setAction(kind)}
        >
          {label}
        </Button>
      ))}
      <Button size="small" tone="ghost" onClick={clear}>
        {t('Clear the selection')}
      </Button>
      {action !== undefined && (
        <ActionDialog
          action={action}
          deployments={[...selected.values()]}
          onDone={(changed) => set(changed, false)}
          onClose={() => setAction(undefined)}
        />
      )}
    </section>
  );
}
