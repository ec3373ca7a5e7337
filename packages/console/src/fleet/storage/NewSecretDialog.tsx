import { useMutation } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/controls/Button.tsx';
import { Field, SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useForm } from '../../shared/ui/controls/form.ts';
import { FormDialog } from '../../shared/ui/dialogs/FormDialog.tsx';
import { Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { fleet, type Secret } from '../api.ts';
import { emptyScope, ScopeFields, scopeOf } from './SecretScope.tsx';

type Kind = Secret['kind'];

const kinds = [
  { value: 'opaque', label: t('Values for variables') },
  { value: 'registry', label: t('Credentials of an image registry') },
  { value: 'tls', label: t('TLS certificate') },
] as const satisfies readonly { value: Kind; label: string }[];

/** The keys that a kind of secret requires. */
const keysOfKind: Readonly<Record<Kind, readonly string[]>> = {
  opaque: ['value'],
  registry: ['username', 'password'],
  tls: ['tls.crt', 'tls.key'],
};

interface Pair {
  readonly id: number;
  readonly key: string;
  readonly value: string;
}

let lastId = 0;
const pairOf = (key: string): Pair => {
  lastId += 1;
  return { id: lastId, key, value: '' };
};

/** Creates a secret, or with `secret` replaces all its values. */
export default function NewSecretDialog({
  name = '',
  secret,
  onClose,
  onCreated,
}: {
  readonly name?: string;
  readonly secret?: Secret;
  readonly onClose: () => void;
  readonly onCreated?: (secret: Secret) => void;
}) {
  // The cast widens the literal.
  const form = useForm({ name, kind: (secret?.kind ?? 'opaque') as Kind, server: secret?.server ?? '' });
  const [scope, setScope] = useState(emptyScope);
  const [pairs, setPairs] = useState<readonly Pair[]>(() => (secret?.keys ?? keysOfKind.opaque).map(pairOf));
  const done = ({ secret: created }: { readonly secret: Secret }) => {
    confirmChange(
      secret
        ? t('The values of {name} are replaced', { name: created.name })
        : t('Secret {name} is created', { name: created.name }),
    );
    if (onCreated) onCreated(created);
    else onClose();
  };
  const create = useMutation({ ...fleet.change('createSecret'), onSuccess: done });
  const replace = useMutation({ ...fleet.change('updateSecret'), onSuccess: done });
  const { error, isPending } = secret ? replace : create;
  const errorAt = form.errorsOf(error);
  const { kind, server } = form.values;
  const setPair = (id: number, changed: Partial<Pair>) =>
    setPairs(pairs.map((pair) => (pair.id === id ? { ...pair, ...changed } : pair)));
  const submit = () => {
    const values = Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
    const registry = kind === 'registry' && server !== '' ? { server } : {};
    if (secret) replace.mutate({ params: { id: secret.id }, body: { values }, ifMatch: secret.version });
    else create.mutate({ body: { name: form.values.name, kind, values, ...registry, ...scopeOf(kind, scope) } });
  };
  return (
    <FormDialog
      title={secret ? t('Replace the values of {name}', { name: secret.name }) : t('New secret')}
      action={secret ? t('Replace the values') : t('Create the secret')}
      pending={isPending}
      error={error}
      shown={['name', 'server', 'values', 'workloads']}
      onClose={onClose}
      onSubmit={submit}
    >
      {secret ? (
        <Notice>
          <p>
            {t(
              'The current values cannot be shown. What you enter replaces all of them, and running deployments receive them.',
            )}
          </p>
        </Notice>
      ) : (
        <>
          <TextField
            {...form.bind('name')}
            label={t('Name')}
            hint={t('Lower-case letters, digits and inner hyphens. It cannot be changed later.')}
            required
            mono
            error={errorAt('name')}
          />
          <SelectField
            label={t('Kind')}
            options={kinds}
            value={kind}
            onChange={(chosen) => {
              form.set('kind', chosen);
              setPairs(keysOfKind[chosen].map(pairOf));
            }}
          />
        </>
      )}
      {kind === 'registry' && !secret && (
        <TextField
          {...form.bind('server')}
          label={t('Registry')}
          hint={t('The only registry that receives the credentials.')}
          placeholder="docker.io"
          mono
          error={errorAt('server')}
        />
      )}
      {pairs.map((pair) => (
        <div key={pair.id} className="stack-small">
          {kind === 'opaque' && (
            <div className="row-nowrap">
              <div className="grow">
                <TextField
                  label={t('Key')}
                  value={pair.key}
                  onChange={(key) => setPair(pair.id, { key })}
                  mono
                  error={undefined}
                />
              </div>
              {pairs.length > 1 && (
                <Button
                  tone="ghost"
                  icon={Trash2}
                  label={t('Remove {key}', { key: pair.key })}
                  onClick={() => setPairs(pairs.filter(({ id }) => id !== pair.id))}
                />
              )}
            </div>
          )}
          {kind === 'tls' ? (
            <TextAreaField
              label={pair.key}
              value={pair.value}
              onChange={(value) => setPair(pair.id, { value })}
              error={errorAt(`values.${pair.key}`)}
            />
          ) : (
            <Field
              label={
                kind === 'opaque'
                  ? pair.key
                    ? t('Value of {key}', { key: pair.key })
                    : t('Value of the key')
                  : pair.key
              }
              error={errorAt(`values.${pair.key}`)}
            >
              {(control) => (
                <input
                  {...control}
                  className="input mono"
                  type="password"
                  autoComplete="new-password"
                  value={pair.value}
                  onChange={({ target }) => setPair(pair.id, { value: target.value })}
                />
              )}
            </Field>
          )}
        </div>
      ))}
      {kind === 'opaque' && (
        <div>
          <Button size="small" icon={Plus} onClick={() => setPairs([...pairs, pairOf('')])}>
            {t('Add a key')}
          </Button>
        </div>
      )}
      {!secret && <ScopeFields kind={kind} draft={scope} error={errorAt('workloads')} onChange={setScope} />}
    </FormDialog>
  );
}
