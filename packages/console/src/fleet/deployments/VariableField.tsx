import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { isInternalVariableText, isSecretVariableText, withoutMarkers } from '../../shared/catalog/secret-variable.ts';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { ComboboxField } from '../../shared/ui/controls/Combobox.tsx';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { lazyDialog } from '../../shared/ui/dialogs/lazy-dialog.tsx';
import { fleet, type Template, useBlocked } from '../api.ts';
import { type EnvDraft, type EnvSource, wordsOfValue } from './env-draft.ts';
import { useSearched, withChosen } from './useSearched.ts';

const NewSecretDialog = lazyDialog(() => import('../storage/NewSecretDialog.tsx'));

const sourceWords: Readonly<Record<EnvSource, string>> = {
  text: t('Text'),
  secret: t('Secret'),
  generate: t('Generate'),
  deployment: t('Deployment'),
  keep: t('Keep'),
};

/**
 * The value of one variable: text, a key of a secret, a generated value, or a value of another
 * deployment.
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
      {draft.source === 'secret' && (
        <SecretFields
          name={name}
          hint={hint}
          draft={draft}
          error={error}
          proposedName={`${deploymentName}-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`}
          onChange={set}
        />
      )}
      {draft.source === 'deployment' && <DeploymentFields draft={draft} error={error} hint={hint} onChange={set} />}
    </div>
  );
}

/** A key of a secret, which the user selects or creates in place. */
function SecretFields({
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
  const [isCreating, setCreating] = useState(false);
  const blocked = useBlocked();
  const { onSearch, query, isTyping } = useSearched();
  const found = useQuery(fleet.read('listSecrets', { query: { ...query, kind: 'opaque' } }));
  const named = useQuery({
    ...fleet.read('listSecrets', { query: { name: draft.secret } }),
    enabled: draft.secret !== '',
  });
  const secrets = withChosen(found.data?.secrets, draft.secret === '' ? undefined : named.data?.secrets[0]);
  const keys = secrets.find(({ name: own }) => own === draft.secret)?.keys ?? [];
  return (
    <>
      <ComboboxField
        label={t('Secret for {name}', { name })}
        hint={hint}
        error={error}
        value={draft.secret}
        onChange={(secret) => onChange({ secret, key: '' })}
        onSearch={onSearch}
        isSearching={isTyping || found.isFetching}
        choices={secrets.map((secret) => ({
          value: secret.name,
          label: secret.name,
          detail: secret.keys.join(', '),
        }))}
        placeholder={t('Choose a secret…')}
        none={t('No secret matches. Create one below.')}
      />
      {keys.length > 1 && (
        <ComboboxField
          label={t('Key for {name}', { name })}
          value={draft.key}
          onChange={(key) => onChange({ key })}
          choices={keys.map((key) => ({ value: key, label: key }))}
        />
      )}
      <div>
        <Button
          size="small"
          icon={Plus}
          blocked={blocked('createSecret')}
          aria-haspopup="dialog"
          onClick={() => setCreating(true)}
        >
          {t('New secret')}
        </Button>
      </div>
      {isCreating && (
        <NewSecretDialog
          name={proposedName}
          onClose={() => setCreating(false)}
          onCreated={(secret) => {
            setCreating(false);
            onChange({ secret: secret.name, key: secret.keys.length === 1 ? '' : (secret.keys[0] ?? '') });
          }}
        />
      )}
    </>
  );
}

function DeploymentFields({
  draft,
  hint,
  error,
  onChange,
}: {
  readonly draft: EnvDraft;
  readonly hint: string;
  readonly error: string | undefined;
  readonly onChange: (changed: Partial<EnvDraft>) => void;
}) {
  const { onSearch, query, isTyping } = useSearched();
  const found = useQuery(fleet.read('listDeployments', { query }));
  const named = useQuery({
    ...fleet.read('listDeployments', { query: { name: draft.deployment } }),
    enabled: draft.deployment !== '',
  });
  const deployments = withChosen(
    found.data?.deployments,
    draft.deployment === '' ? undefined : named.data?.deployments[0],
  );
  const chosen = deployments.find(({ name }) => name === draft.deployment);
  const variables = Object.entries(chosen?.env ?? {}).flatMap(([name, value]) =>
    typeof value === 'object' && 'generate' in value ? [name] : [],
  );
  return (
    <>
      <ComboboxField
        label={t('Deployment')}
        hint={t('{hint} The variable receives the generated value of this deployment.', { hint })}
        error={error}
        value={draft.deployment}
        onChange={(deployment) => onChange({ deployment, variable: '' })}
        onSearch={onSearch}
        isSearching={isTyping || found.isFetching}
        choices={deployments.map(({ name, template_slug }) => ({
          value: name,
          label: name,
          detail: template_slug ?? '',
        }))}
      />
      <ComboboxField
        label={t('Its variable')}
        value={draft.variable}
        onChange={(variable) => onChange({ variable })}
        choices={variables.map((name) => ({ value: name, label: name }))}
        none={t('The deployment has no generated value.')}
      />
    </>
  );
}
