import type { AddressForm } from '@svc/contract/fleet';
import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { ComboboxField } from '../../../shared/ui/controls/Combobox.tsx';
import { SelectField, TextField } from '../../../shared/ui/controls/Field.tsx';
import { lazyDialog } from '../../../shared/ui/dialogs/lazy-dialog.tsx';
import { fleet, useBlocked } from '../../api.ts';
import type { ReferenceDraft } from '../env-draft.ts';
import { useSearched, withChosen } from '../useSearched.ts';

const NewSecretDialog = lazyDialog(() => import('../../storage/NewSecretDialog.tsx'));

interface ReferenceProps {
  /** The variable or the placeholder that receives the value. */
  readonly name: string;
  readonly hint: string;
  readonly draft: ReferenceDraft;
  readonly error: string | undefined;
  /** For a new secret. */
  readonly proposedName: string;
  readonly onChange: (changed: Partial<ReferenceDraft>) => void;
}

/** A key of a secret, or a value or an address of another deployment. */
export const ReferenceFields = (props: ReferenceProps) =>
  props.draft.source === 'secret' ? <SecretFields {...props} /> : <DeploymentFields {...props} />;

/** A key of a secret, which the user selects or creates in place. */
function SecretFields({ name, hint, draft, error, proposedName, onChange }: ReferenceProps) {
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

function DeploymentFields({ draft, hint, error, onChange }: ReferenceProps) {
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
  const isAddress = draft.source === 'address';
  return (
    <>
      <ComboboxField
        label={t('Deployment')}
        hint={
          isAddress
            ? t('{hint} The variable receives the address of a port of this deployment.', { hint })
            : t('{hint} The variable receives the generated value of this deployment.', { hint })
        }
        error={error}
        value={draft.deployment}
        onChange={(deployment) => onChange({ deployment, variable: '', port: '' })}
        onSearch={onSearch}
        isSearching={isTyping || found.isFetching}
        choices={deployments.map(({ name, template_slug }) => ({
          value: name,
          label: name,
          detail: template_slug ?? '',
        }))}
      />
      {isAddress ? (
        <AddressFields draft={draft} known={portsOf(chosen)} onChange={onChange} />
      ) : (
        <ComboboxField
          label={t('Its variable')}
          value={draft.variable}
          onChange={(variable) => onChange({ variable })}
          choices={generatedVariables(chosen).map((name) => ({ value: name, label: name }))}
          none={t('The deployment has no generated value.')}
        />
      )}
    </>
  );
}

type Found = Awaited<ReturnType<typeof fleet.call<'listDeployments'>>>['deployments'][number] | undefined;

const generatedVariables = (deployment: Found): string[] =>
  Object.entries(deployment?.env ?? {}).flatMap(([name, value]) =>
    typeof value === 'object' && 'generate' in value ? [name] : [],
  );

/** The ports of a deployment that have addresses now. */
const portsOf = (deployment: Found): number[] => [
  ...new Set(deployment?.endpoints.map(({ container_port }) => container_port)),
];

const forms: readonly { readonly value: AddressForm; readonly label: string }[] = [
  { value: 'host:port', label: t('Address and port') },
  { value: 'host', label: t('Address only') },
  { value: 'port', label: t('Port only') },
  { value: 'url', label: t('URL') },
];

const AddressFields = ({
  draft,
  known,
  onChange,
}: Pick<ReferenceProps, 'draft' | 'onChange'> & { readonly known: readonly number[] }) => (
  <div className="row">
    <TextField
      label={t('Port of its container')}
      hint={known.length > 0 ? t('It has {ports}.', { ports: known.join(', ') }) : undefined}
      type="number"
      min={1}
      max={65_535}
      value={draft.port}
      onChange={(port) => onChange({ port })}
    />
    <SelectField label={t('Written as')} value={draft.as} onChange={(as) => onChange({ as })} options={forms} />
  </div>
);
