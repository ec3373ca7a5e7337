import { useMutation, useQuery } from '@tanstack/react-query';
import { PlugZap, RotateCcw, Save } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../shared/texts/texts.ts';
import { Button } from '../../shared/ui/Button.tsx';
import { TextField } from '../../shared/ui/Field.tsx';
import { FormError } from '../../shared/ui/FormError.tsx';
import { useForm } from '../../shared/ui/form.ts';
import { Panel } from '../../shared/ui/PageHeader.tsx';
import { ErrorView, Loading, Notice } from '../../shared/ui/states.tsx';
import { confirmChange } from '../../shared/ui/toast.tsx';
import { type FleetOutput, fleet } from '../api.ts';
import { SourceHint } from './SourceHint.tsx';

type HubSettings = FleetOutput<'getHubSettings'>;

export function HubSettingsForm() {
  const { data, error, refetch } = useQuery(fleet.read('getHubSettings'));
  if (error && !data) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the settings…')} />;
  return <Form key={JSON.stringify(data)} settings={data} />;
}

function Form({ settings }: { readonly settings: HubSettings }) {
  const [before] = useState({
    url: settings.url ?? '',
    api_key: '',
    sync_interval: String(settings.sync_interval),
  });
  const form = useForm(before);
  const save = useMutation({
    ...fleet.change('setHubSettings', 'catalog'),
    onSuccess: () => {
      form.set('api_key', '');
      confirmChange(t('The settings of the hub are saved'));
    },
  });
  const reset = useMutation({
    ...fleet.change('resetHubSettings', 'catalog'),
    onSuccess: () => confirmChange(t('The settings are those of the environment')),
  });
  const test = useMutation(fleet.change('testHubSettings'));
  const error = save.error ?? test.error ?? reset.error;
  /** An action removes the errors of the earlier ones. */
  const start = (action: () => void) => {
    for (const earlier of [save, test, reset]) if (earlier.error) earlier.reset();
    action();
  };
  const errorAt = form.errorsOf(error);
  const { url, api_key, sync_interval } = form.values;
  const { sources } = settings;
  const body = {
    ...(url === before.url ? {} : { url }),
    ...(api_key === '' ? {} : { api_key }),
    ...(sync_interval === before.sync_interval ? {} : { sync_interval: Number(sync_interval) }),
  };
  const isTested = JSON.stringify(test.variables?.body) === JSON.stringify(body);
  return (
    <div className="split">
      <form
        className="panel"
        onSubmit={(event) => {
          event.preventDefault();
          start(() => save.mutate({ body }));
        }}
      >
        <div className="form-section">
          <TextField
            {...form.bind('url')}
            label={t('URL')}
            placeholder="https://hub.example.com"
            hint={<SourceHint source={sources.url} />}
            mono
            error={errorAt('url')}
          />
          <TextField
            {...form.bind('api_key')}
            label={t('API key')}
            type="password"
            autoComplete="new-password"
            placeholder={
              settings.api_key_prefix
                ? t('{api_key_prefix}…, enter a new one to replace it', { api_key_prefix: settings.api_key_prefix })
                : t('not set')
            }
            hint={
              <SourceHint source={sources.api_key}>
                {t('An organization creates it at the hub. A change of the URL requires it.')}
              </SourceHint>
            }
            error={errorAt('api_key')}
          />
          <TextField
            {...form.bind('sync_interval')}
            label={t('Seconds between two syncs')}
            type="number"
            min={0}
            hint={<SourceHint source={sources.sync_interval}>{t('0: only on demand.')}</SourceHint>}
            error={errorAt('sync_interval')}
          />
          <FormError error={error} shown={['url', 'api_key', 'sync_interval']} />
          <div className="actions">
            <Button
              type="submit"
              tone="primary"
              icon={Save}
              pending={save.isPending}
              blocked={Object.keys(body).length === 0 ? t('Nothing is changed.') : undefined}
            >
              {t('Save')}
            </Button>
            <Button icon={PlugZap} pending={test.isPending} onClick={() => start(() => test.mutate({ body }))}>
              {t('Test')}
            </Button>
            <Button
              tone="ghost"
              icon={RotateCcw}
              pending={reset.isPending}
              onClick={() => start(() => reset.mutate({}))}
            >
              {t('Reset to the environment')}
            </Button>
          </div>
        </div>
      </form>
      <Panel title={t('Test')}>
        {test.data && isTested ? (
          <Notice kind="good" title={t('The hub accepts the API key')}>
            <p>
              {t('Organization {name}, tier {tier}.', {
                name: test.data.organization.name,
                tier: test.data.organization.tier,
              })}
            </p>
          </Notice>
        ) : (
          <p className="muted">{t('Test connects to the hub with your input. Nothing is stored.')}</p>
        )}
      </Panel>
    </div>
  );
}
