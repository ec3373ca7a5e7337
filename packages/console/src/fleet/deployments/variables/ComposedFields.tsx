import { t } from '../../../shared/texts/texts.ts';
import { TextField } from '../../../shared/ui/controls/Field.tsx';
import {
  type EnvDraft,
  partOf,
  placeholdersIn,
  type ReferenceDraft,
  type ReferenceSource,
  referenceSources,
} from '../env-draft.ts';
import { ReferenceFields } from './ReferenceFields.tsx';

const sourceWords: Readonly<Record<ReferenceSource, string>> = {
  secret: t('Secret'),
  deployment: t('Deployment'),
  address: t('Address'),
};

/** A text with placeholders, and what each of them stands for. */
export function ComposedFields({
  name,
  hint,
  draft,
  error,
  proposedName,
  onChange,
}: {
  readonly name: string;
  readonly hint: string;
  readonly draft: EnvDraft;
  readonly error: string | undefined;
  readonly proposedName: string;
  readonly onChange: (changed: Partial<EnvDraft>) => void;
}) {
  const placeholders = placeholdersIn(draft.text);
  const change = (part: string, changed: Partial<ReferenceDraft>) =>
    onChange({ parts: { ...draft.parts, [part]: { ...partOf(draft, part), ...changed } } });
  const malformed =
    placeholders === undefined
      ? t('A placeholder is a name in lower case, such as {example}.', { example: EXAMPLE })
      : undefined;
  return (
    <>
      <TextField
        label={<span className="visually-hidden">{t('Text of {name}', { name })}</span>}
        hint={t('{hint} A text with placeholders such as {example}. With {encoded}, the value is encoded for a URL.', {
          hint,
          example: EXAMPLE,
          encoded: ENCODED,
        })}
        error={malformed ?? error}
        mono
        placeholder={PROPOSAL}
        value={draft.text}
        onChange={(text) => onChange({ text })}
      />
      {placeholders?.map((part) => {
        const reference = partOf(draft, part);
        return (
          <fieldset key={part} className="stack-small">
            <div className="spread">
              <code className="strong">{part}</code>
              <span className="segmented">
                {referenceSources.map((source) => (
                  <button
                    key={source}
                    type="button"
                    aria-pressed={reference.source === source}
                    onClick={() => change(part, { source })}
                  >
                    {sourceWords[source]}
                  </button>
                ))}
              </span>
            </div>
            <ReferenceFields
              name={part}
              hint=""
              draft={reference}
              error={undefined}
              proposedName={proposedName}
              onChange={(changed) => change(part, changed)}
            />
          </fieldset>
        );
      })}
    </>
  );
}
const EXAMPLE = `\${db}`;
const ENCODED = `\${pw|url}`;
const PROPOSAL = `postgres://app:\${pw|url}@\${db}/app`;
