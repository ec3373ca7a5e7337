import { Combobox as Base } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown } from 'lucide-react';
import { useCallback, useState } from 'react';
import { t } from '../texts/texts.ts';
import type { Choice, ComboboxProps } from './Combobox.tsx';

/** The input of a combobox with its list of choices. */
export function ComboboxWidget({ control, label, value, onChange, choices, placeholder, none }: ComboboxProps) {
  // What is outside of a modal dialog is below it and inert.
  const [dialog, setDialog] = useState<HTMLElement>();
  const within = useCallback((box: Element | null) => setDialog(box?.closest('dialog') ?? undefined), []);
  return (
    <Base.Root
      items={[...choices]}
      value={choices.find((choice) => choice.value === value) ?? null}
      onValueChange={(choice: Choice | null) => onChange(choice?.value ?? '')}
      itemToStringLabel={(choice: Choice) => choice.label}
      isItemEqualToValue={(one: Choice, other: Choice) => one.value === other.value}
    >
      <div ref={within} className="combobox">
        <Base.Input {...control} className="input" placeholder={placeholder} />
        <Base.Trigger className="combobox-trigger" aria-label={t('Show the choices for {label}', { label })}>
          <ChevronsUpDown size={15} aria-hidden />
        </Base.Trigger>
      </div>
      <Base.Portal container={dialog}>
        <Base.Positioner className="layer" sideOffset={4} positionMethod={dialog ? 'fixed' : 'absolute'}>
          <Base.Popup className="popup combobox-popup">
            <Base.Empty className="menu-label">{none}</Base.Empty>
            <Base.List>
              {(choice: Choice) => (
                <Base.Item key={choice.value} value={choice} className="menu-item">
                  <span className="grow">
                    {choice.label}
                    {choice.detail && <span className="hint"> {choice.detail}</span>}
                  </span>
                  <Base.ItemIndicator>
                    <Check size={15} aria-hidden />
                  </Base.ItemIndicator>
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
