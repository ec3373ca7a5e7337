import { isInternalVariableText, isSecretVariableText, withoutMarkers } from '../../shared/catalog/secret-variable.ts';
import { t } from '../../shared/texts/texts.ts';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import type { Template } from '../api.ts';
import { type EnvDraft, type EnvSource, referenceSources, wordsOfValue } from './env-draft.ts';
import { ComposedFields } from './variables/ComposedFields.tsx';
import { ReferenceFields } from './variables/ReferenceFields.tsx';

const sourceWords: Readonly<Record<EnvSource, string>> = {
  text: t('Text'),
  secret: t('Secret'),
  generate: t('Generate'),
  deployment: t('Deployment'),
  address: t('Address'),
  composed: t('Composed'),
  keep: t('Keep'),
};

const isReference = (source: EnvSource): boolean => referenceSources.some((each) => each === source);

/**
 * The value of one variable: text, a key of a secret, a generated value, a value or an address of another
 * deployment, or a text that is composed of them.
 */
export function VariableField({
  variable,
  draft,
  error,
  deploymentName,
  onChange,
}: {
  readonly variable: Template['env_schema'][number];
  readonly draft: EnvDraft;
  readonly error: string | undefined;
  /** For the proposed name of a new secret. */
  readonly deploymentName: string;
  readonly onChange: (draft: EnvDraft) => void;
}) {
  const { name, description, default_value, required } = variable;
  const isSecret = isSecretVariableText(description);
  const sources: readonly EnvSource[] = [
    ...(draft.kept === undefined ? [] : (['keep'] as const)),
    'text',
    'secret',
    'generate',
    'deployment',
    'address',
    'composed',
  ];
  const set = (changed: Partial<EnvDraft>) => onChange({ ...draft, ...changed });
  const hint = withoutMarkers(description);
  const isRequired = required && default_value === '';
  return (
    <div className="stack-small">
      <div className="spread">
        <span className="row">
          <code className="strong">{name}</code>
          {isSecret && <span className="tag">{t('secret')}</span>}
          {isRequired && <span className="muted small">{t('required')}</span>}
        </span>
        <fieldset className="segmented" aria-label={t('Source of {name}', { name })}>
          {sources.map((source) => (
            <button key={source} type="button" aria-pressed={draft.source === source} onClick={() => set({ source })}>
              {sourceWords[source]}
            </button>
          ))}
        </fieldset>
      </div>
      {draft.source === 'text' && (
        <TextField
          error={error}
          label={
            <span className="visually-hidden">
              {isRequired ? t('Value of {name}, required', { name }) : t('Value of {name}', { name })}
            </span>
          }
          hint={isSecret ? t('{hint} Every viewer can read a value that is text.', { hint }) : hint}
          mono
          placeholder={default_value === '' ? '' : t('{default_value} (default)', { default_value })}
          value={draft.text}
          onChange={(text) => set({ text })}
        />
      )}
      {draft.source === 'keep' && draft.kept !== undefined && (
        <p className="muted">{t('Unchanged: {value}', { value: wordsOfValue(draft.kept) })}</p>
      )}
      {draft.source === 'generate' && (
        <TextField
          error={error}
          label={<span className="small">{t('Length of {name}', { name })}</span>}
          hint={
            isInternalVariableText(description)
              ? t('{hint} The fleet generates a random text, and never shows it.', { hint })
              : t('{hint} The fleet generates a random text, and shows it to you after the change.', { hint })
          }
          type="number"
          min={16}
          max={128}
          value={draft.length}
          onChange={(length) => set({ length })}
        />
      )}
      {isReference(draft.source) && (
        <ReferenceFields
          name={name}
          hint={hint}
          draft={draft}
          error={error}
          proposedName={`${deploymentName}-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`}
          onChange={set}
        />
      )}
      {draft.source === 'composed' && (
        <ComposedFields
          name={name}
          hint={hint}
          draft={draft}
          error={error}
          proposedName={deploymentName}
          onChange={set}
        />
      )}
    </div>
  );
}
