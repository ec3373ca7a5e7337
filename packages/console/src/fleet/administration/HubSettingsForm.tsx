import { useMutation, useQuery } from '@tanstack/react-query';
import { t } from '../../shared/texts/texts.ts';
import { TextField } from '../../shared/ui/controls/Field.tsx';
import { useEdits } from '../../shared/ui/controls/form.ts';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type FleetOutput, fleet } from '../api.ts';
import { settingsActions } from './SettingsActions.tsx';
import { SourceHint } from './SourceHint.tsx';

type HubSettings = FleetOutput<'getHubSettings'>;

export function HubSettingsForm() {
  const { data, error, refetch } = useQuery(fleet.read('getHubSettings'));
  if (error && !data) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the settings…')} />;
  return <Form settings={data} />;
}

function Form({ settings }: { readonly settings: HubSettings }) {
  const before = {
    url: settings.url ?? '',
    api_key: '',
    sync_interval: String(settings.sync_interval),
  };
  const form = useEdits(before);
  /** Shows the settings of a response, without the input of the user. */
  const show = (reply: HubSettings) => {
    fleet.queries.setQueryData(fleet.read('getHubSettings').queryKey, reply);
    form.discard();
  };
  const save = useMutation({
    ...fleet.change('setHubSettings', 'catalog'),
    onSuccess: (reply) => {
      show(reply);
      confirmChange(t('The settings of the hub are saved'));
    },
  });
  const reset = useMutation({
    ...fleet.change('resetHubSettings', 'catalog'),
    onSuccess: (reply) => {
      show(reply);
      confirmChange(t('The settings are those of the environment'));
    },
  });
  const test = useMutation(fleet.change('testHubSettings'));
  const { url, api_key, sync_interval } = form.values;
  const { sources } = settings;
  const body = {
    ...(url === before.url ? {} : { url }),
    ...(api_key === '' ? {} : { api_key }),
    ...(sync_interval === before.sync_interval ? {} : { sync_interval: Number(sync_interval) }),
  };
  const { error, isTested, onSubmit, buttons } = settingsActions({ save, test, reset, body });
  const errorAt = form.errorsOf(error);
  return (
    <div className="split">
      <form className="panel" onSubmit={onSubmit}>
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
          {buttons(['url', 'api_key', 'sync_interval'])}
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
