import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';
import { t } from '../../../shared/texts/texts.ts';
import type { SelectedDeployment } from './bulk-plan.ts';

/** The maximum number of deployments that are changed together. */
export const MAX_SELECTED = 50;

export interface Selection {
  /** By id, in the order of their selection. */
  readonly selected: ReadonlyMap<string, SelectedDeployment>;
  readonly set: (deployments: readonly SelectedDeployment[], isSelected: boolean) => void;
  readonly clear: () => void;
}

const SelectionContext = createContext<Selection | undefined>(undefined);

/** The deployments that the user selects in a list. They stay selected while the filters change. */
export function useSelection(): Selection {
  const [selected, setSelected] = useState<ReadonlyMap<string, SelectedDeployment>>(new Map());
  return useMemo(
    () => ({
      selected,
      set: (deployments, isSelected) =>
        setSelected((current) => {
          const next = new Map(current);
          for (const deployment of deployments) {
            if (!isSelected) next.delete(deployment.id);
            else if (next.size < MAX_SELECTED) next.set(deployment.id, deployment);
          }
          return next;
        }),
      clear: () => setSelected(new Map()),
    }),
    [selected],
  );
}

export const SelectionProvider = ({
  selection,
  children,
}: {
  readonly selection: Selection;
  readonly children: ReactNode;
}) => <SelectionContext value={selection}>{children}</SelectionContext>;

/** Selects a row. Only the boxes render again when the selection changes, not the rows. */
export function SelectBox({ deployment }: { readonly deployment: SelectedDeployment }) {
  const selection = useContext(SelectionContext);
  const isSelected = selection?.selected.has(deployment.id) ?? false;
  const isFull = !isSelected && (selection?.selected.size ?? 0) >= MAX_SELECTED;
  return (
    <label
      className="select-box"
      title={isFull ? t('At most {count} can be selected.', { count: MAX_SELECTED }) : undefined}
    >
      <input
        type="checkbox"
        aria-label={t('Select {name}', { name: deployment.name })}
        checked={isSelected}
        disabled={isFull}
        onChange={({ target }) => selection?.set([deployment], target.checked)}
      />
    </label>
  );
}
