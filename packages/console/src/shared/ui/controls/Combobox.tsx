import { ChevronsUpDown } from 'lucide-react';
import { useEffect, useLayoutEffect, useState } from 'react';
import { t } from '../../texts/texts.ts';
import type { ComboboxWidget } from './ComboboxWidget.tsx';
import { type ControlProps, Field } from './Field.tsx';

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly detail?: string;
}

interface Chosen {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** They contain the chosen one. */
  readonly choices: readonly Choice[];
  /**
   * Called with what the user types, and with an empty text after a choice. Given if the choices
   * are only the first ones of many.
   */
  readonly onSearch?: (text: string) => void;
  /** Whether the choices for what the user types are not known yet. */
  readonly isSearching?: boolean;
}

export interface ComboboxProps extends Chosen {
  readonly control: ControlProps;
  readonly placeholder: string;
  /** The text if no choice matches. */
  readonly none: string;
}

/** A field in which the user searches and chooses one of many values. */
export const ComboboxField = ({
  hint,
  error,
  required = false,
  name,
  placeholder = t('Choose…'),
  none = t('No match'),
  ...chosen
}: Chosen & {
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly required?: boolean;
  readonly name?: string;
  readonly placeholder?: string;
  readonly none?: string;
}) => (
  <Field label={chosen.label} hint={hint} error={error} required={required} name={name}>
    {(control) => <ComboboxControl {...chosen} control={control} placeholder={placeholder} none={none} />}
  </Field>
);

/** The widget, when it is loaded. */
let widget: typeof ComboboxWidget | undefined;

/** The first actions of a user on a page. */
const ACTIONS = ['keydown', 'pointermove', 'pointerdown'] as const;

/**
 * The widget is a third of the code of a page with a form. It is loaded at the first action of the
 * user on the page, and replaces an input that looks the same and keeps the focus.
 */
function ComboboxControl(props: ComboboxProps) {
  const [Widget, setWidget] = useState(() => widget);
  const [wasFocused, setFocused] = useState(false);
  const { id } = props.control;
  useEffect(() => {
    if (Widget) return;
    const loading = new AbortController();
    const load = async () => {
      widget = await import('./ComboboxWidget.tsx').then(
        (module) => module.ComboboxWidget,
        () => undefined, // the next action tries again
      );
      if (loading.signal.aborted || !widget) return;
      setFocused(document.activeElement?.id === id);
      setWidget(() => widget);
    };
    for (const action of [...ACTIONS, 'focusin'] as const) {
      // The focus that the page itself sets is not an action.
      const isAction = (event: Event) => action !== 'focusin' || (event.target as Element | null)?.id === id;
      document.addEventListener(action, (event) => isAction(event) && void load(), { signal: loading.signal });
    }
    return () => loading.abort();
  }, [Widget, id]);
  useLayoutEffect(() => {
    if (Widget && wasFocused) document.getElementById(id)?.focus();
  }, [Widget, wasFocused, id]);
  return Widget ? <Widget {...props} /> : <Placeholder {...props} />;
}

const Placeholder = ({ control, value, choices, placeholder }: ComboboxProps) => (
  <div className="combobox">
    <input
      {...control}
      className="input"
      role="combobox"
      aria-expanded={false}
      readOnly
      placeholder={placeholder}
      value={choices.find((choice) => choice.value === value)?.label ?? ''}
    />
    <span className="combobox-trigger">
      <ChevronsUpDown size={15} aria-hidden />
    </span>
  </div>
);
