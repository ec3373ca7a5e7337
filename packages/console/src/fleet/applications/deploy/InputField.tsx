import { t } from '../../../shared/texts/texts.ts';
import { SelectField, TextField } from '../../../shared/ui/controls/Field.tsx';
import type { EnvSource, ReferenceDraft } from '../../deployments/env-draft.ts';
import { ReferenceFields } from '../../deployments/variables/ReferenceFields.tsx';
import type { FormInput } from './application-spec.ts';

interface InputProps {
  readonly input: FormInput;
  readonly error: string | undefined;
}

/** A text or a choice that a person enters. */
export function TextInput({
  input: {
    name,
    label,
    type,
    choices = type === 'boolean' ? ['true', 'false'] : undefined,
    required,
    default: preset = '',
  },
  error,
  value,
  onChange,
}: InputProps & { readonly value: string; readonly onChange: (value: string) => void }) {
  const field = {
    name: `inputs.${name}`,
    label: label || name,
    required: required && preset === '',
    error,
    onChange,
  };
  if (choices === undefined)
    return (
      <TextField
        {...field}
        mono
        placeholder={preset === '' ? '' : t('{default_value} (default)', { default_value: preset })}
        value={value}
      />
    );
  const empty = preset === '' ? t('Choose…') : t('{default_value} (default)', { default_value: preset });
  return (
    <SelectField
      {...field}
      value={value}
      options={[{ value: '', label: empty }, ...choices.map((choice) => ({ value: choice, label: choice }))]}
    />
  );
}

const sources = [
  { source: 'generate', label: t('Generate') },
  { source: 'secret', label: t('Secret') },
  { source: 'deployment', label: t('Deployment') },
] as const satisfies readonly { readonly source: EnvSource; readonly label: string }[];

/** Where the value of a secret input comes from. It is never text: everybody who sees the application would read it. */
export function SecretInput({
  input: { name, label, required },
  error,
  draft,
  proposedName,
  canGenerate,
  onChange,
}: InputProps & {
  readonly draft: ReferenceDraft;
  /** Whether the fleet can generate the value. */
  readonly canGenerate: boolean;
  /** For a new secret. */
  readonly proposedName: string;
  readonly onChange: (draft: ReferenceDraft) => void;
}) {
  const shown = label || name;
  return (
    <div className="stack-small">
      <div className="spread">
        <span className="row">
          <span className="strong">{shown}</span>
          <span className="tag">{t('secret')}</span>
          {required && <span className="muted small">{t('required')}</span>}
        </span>
        <fieldset className="segmented" aria-label={t('Source of {name}', { name: shown })}>
          {sources
            .filter(({ source }) => canGenerate || source !== 'generate')
            .map(({ source, label: words }) => (
              <button
                key={source}
                type="button"
                aria-pressed={draft.source === source}
                onClick={() => onChange({ ...draft, source })}
              >
                {words}
              </button>
            ))}
        </fieldset>
      </div>
      {draft.source === 'generate' ? (
        <p className="hint">{t('The fleet generates a random text, and shows it to you after the deployment.')}</p>
      ) : (
        <ReferenceFields
          name={shown}
          hint={required ? '' : t('It can stay empty.')}
          draft={draft}
          error={error}
          proposedName={proposedName}
          onChange={(changed) => onChange({ ...draft, ...changed })}
        />
      )}
    </div>
  );
}
