import { CircleAlert, Search } from 'lucide-react';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { t } from '../../texts/texts.ts';

export interface ControlProps {
  readonly id: string;
  readonly name: string | undefined;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
  readonly 'aria-required': boolean | undefined;
}

interface FieldProps {
  readonly label: ReactNode;
  /** The path of the member in problem documents. A summary of errors and an address move the focus to it. */
  readonly name?: string | undefined;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly required?: boolean;
}

/** A control with its label, a hint, and the message of an error. */
export function Field({
  label,
  name,
  hint,
  error,
  required = false,
  children,
}: FieldProps & { readonly children: (control: ControlProps) => ReactNode }) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter((part) => part !== '').join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {required && <span className="muted small"> {t('required')}</span>}
      </label>
      {children({
        id,
        name,
        'aria-describedby': described || undefined,
        'aria-invalid': error !== undefined || undefined,
        'aria-required': required || undefined,
      })}
      {hint && (
        <div id={`${id}-hint`} className="hint">
          {hint}
        </div>
      )}
      {error && <FieldError id={`${id}-error`} text={error} />}
    </div>
  );
}

export const FieldError = ({ id, text }: { readonly id?: string; readonly text: string }) => (
  <div id={id} className="field-error">
    <CircleAlert size={14} aria-hidden />
    {text}
  </div>
);

interface FileProps extends FieldProps {
  /** The endings of its name, such as `.yaml,.yml`. */
  readonly accept: string;
  readonly onChoose: (file: File) => void;
}

/** A file of the user, which the page reads. */
export const FileField = ({ accept, onChoose, ...field }: FileProps) => (
  <Field {...field}>
    {(control) => (
      <input
        {...control}
        className="input"
        type="file"
        accept={accept}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) onChoose(file);
        }}
      />
    )}
  </Field>
);

interface TextProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: 'text' | 'password' | 'email' | 'number' | 'url' | 'datetime-local' | 'time';
  readonly placeholder?: string;
  readonly autoComplete?: string;
  readonly mono?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly list?: string;
}

export const TextField = ({
  value,
  onChange,
  type = 'text',
  placeholder,
  autoComplete = 'off',
  mono = false,
  min,
  max,
  list,
  ...field
}: TextProps) => (
  <Field {...field}>
    {(control) => (
      <input
        {...control}
        className={mono ? 'input mono' : 'input'}
        type={type}
        value={value}
        placeholder={placeholder}
        autoComplete={autoComplete}
        spellCheck={false}
        min={min}
        max={max}
        list={list}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

export const TextAreaField = ({
  value,
  onChange,
  placeholder,
  rows = 5,
  mono = true,
  ...field
}: FieldProps & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly rows?: number;
  readonly mono?: boolean;
}) => (
  <Field {...field}>
    {(control) => (
      <textarea
        {...control}
        className={mono ? 'textarea mono' : 'textarea'}
        rows={rows}
        value={value}
        placeholder={placeholder}
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

export interface Option<V extends string = string> {
  readonly value: V;
  readonly label: string;
}

export const SelectField = <V extends string>({
  value,
  onChange,
  options,
  ...field
}: FieldProps & {
  readonly value: V;
  readonly onChange: (value: V) => void;
  readonly options: readonly Option<V>[];
}) => (
  <Field {...field}>
    {(control) => (
      <select
        {...control}
        className="select"
        value={value}
        onChange={({ target }) => {
          const chosen = options.find((option) => option.value === target.value);
          if (chosen) onChange(chosen.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    )}
  </Field>
);

/** A filter with a hidden label. */
export const FilterSelect = ({
  label,
  value,
  onChange,
  options,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly Option[];
}) => (
  <select aria-label={label} className="select" value={value} onChange={({ target }) => onChange(target.value)}>
    {options.map((option) => (
      <option key={option.value} value={option.value}>
        {option.label}
      </option>
    ))}
  </select>
);

export const CheckField = ({
  label,
  hint,
  name,
  checked,
  onChange,
}: {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly name?: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) => {
  const id = useId();
  return (
    <div className="check">
      <input
        id={id}
        name={name}
        type="checkbox"
        checked={checked}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={({ target }) => onChange(target.checked)}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint && (
          <div id={`${id}-hint`} className="hint">
            {hint}
          </div>
        )}
      </div>
    </div>
  );
};

const PAUSE_MS = 200;

/** A search field that reports its value when the user pauses. */
export function SearchField({
  value,
  onChange,
  label,
  suggestions,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly label: string;
  /** Texts that the browser offers while the user types. */
  readonly suggestions?: readonly string[];
}) {
  const listId = useId();
  const [text, setText] = useState(value);
  useEffect(() => {
    setText(value);
  }, [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the text starts the timer
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="search">
      <Search size={15} aria-hidden />
      <input
        type="search"
        className="input"
        aria-label={label}
        placeholder={label}
        value={text}
        data-search
        list={suggestions && listId}
        onChange={({ target }) => setText(target.value)}
      />
      {suggestions && (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </div>
  );
}
