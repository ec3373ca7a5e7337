import { Combobox as Base } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown } from 'lucide-react';
import { type SyntheticEvent, useCallback, useState } from 'react';
import { t } from '../../texts/texts.ts';
import type { Choice, ComboboxProps } from './Combobox.tsx';

/** The input of a combobox with its list of choices. */
export function ComboboxWidget({
  control,
  label,
  value,
  onChange,
  choices,
  onSearch,
  isSearching,
  ...texts
}: ComboboxProps) {
  // What is outside of a modal dialog is below it and inert.
  const [dialog, setDialog] = useState<HTMLElement>();
  const within = useCallback((box: Element | null) => setDialog(box?.closest('dialog') ?? undefined), []);
  /** What the user types; undefined while the input shows the choice. */
  const [typed, setTyped] = useState<string>();
  const chosen = choices.find((choice) => choice.value === value);
  const search = (text: string | undefined) => {
    setTyped(text);
    onSearch?.(text ?? '');
  };
  const selectAll = ({ currentTarget }: SyntheticEvent<HTMLInputElement>) => {
    if (typed === undefined) currentTarget.select(); // typing replaces the choice
  };
  return (
    <Base.Root
      items={[...choices]}
      value={chosen ?? null}
      onValueChange={(choice: Choice | null) => onChange(choice?.value ?? '')}
      inputValue={typed ?? chosen?.label ?? ''}
      onInputValueChange={(text, { reason }) => search(reason === 'input-change' ? text : undefined)}
      onOpenChange={(isOpen) => isOpen || search(undefined)}
      itemToStringLabel={(choice: Choice) => choice.label}
      isItemEqualToValue={(one: Choice, other: Choice) => one.value === other.value}
    >
      <div ref={within} className="combobox">
        <Base.Input
          {...control}
          className="input"
          placeholder={texts.placeholder}
          onFocus={selectAll}
          onClick={selectAll}
          onBlur={() => search(undefined)}
        />
        <Base.Trigger className="combobox-trigger" aria-label={t('Show the choices for {label}', { label })}>
          <ChevronsUpDown size={15} aria-hidden />
        </Base.Trigger>
      </div>
      <Base.Portal container={dialog}>
        <Base.Positioner className="layer" sideOffset={4} positionMethod={dialog ? 'fixed' : 'absolute'}>
          <Base.Popup className="popup combobox-popup">
            <Base.Empty className="menu-label">{isSearching ? t('Searching…') : texts.none}</Base.Empty>
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
