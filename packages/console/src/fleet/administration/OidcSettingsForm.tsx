import type { fleetEndpoints } from '@svc/contract/fleet';
import { useMutation, useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX } from 'lucide-react';
import type { CallInput } from '../../shared/api/client.ts';
import { t } from '../../shared/texts/texts.ts';
import { CheckField, SelectField, TextAreaField, TextField } from '../../shared/ui/controls/Field.tsx';
import { useEdits } from '../../shared/ui/controls/form.ts';
import { pairsOf, textOfPairs } from '../../shared/ui/controls/pairs.ts';
import { ErrorView, Loading, Notice } from '../../shared/ui/feedback/states.tsx';
import { confirmChange } from '../../shared/ui/feedback/toast.tsx';
import { Panel } from '../../shared/ui/shell/PageHeader.tsx';
import { type FleetOutput, fleet } from '../api.ts';
import { settingsActions } from './SettingsActions.tsx';
import { SourceHint } from './SourceHint.tsx';

type OidcSettings = FleetOutput<'getOidcSettings'>;
type Change = NonNullable<CallInput<(typeof fleetEndpoints)['setOidcSettings']>['body']>;
type RoleMap = NonNullable<Change['role_map']>;

export function OidcSettingsForm() {
  const { data, error, refetch } = useQuery(fleet.read('getOidcSettings'));
  if (error && !data) return <ErrorView error={error} retry={refetch} />;
  if (!data) return <Loading text={t('Loading the settings…')} />;
  return <Form settings={data} />;
}

const fields = ['issuer', 'client_id', 'client_secret', 'audience', 'role_claim', 'role_map', 'default_role'] as const;

const valuesOf = (settings: OidcSettings) => ({
  issuer: settings.issuer ?? '',
  client_id: settings.client_id ?? '',
  client_secret: '',
  audience: settings.audience ?? '',
  role_claim: settings.role_claim,
  role_map: textOfPairs(settings.role_map ?? {}),
  default_role: settings.default_role,
  allow_userinfo: settings.allow_userinfo,
});

type Values = ReturnType<typeof valuesOf>;

/** Only the members that differ: the others keep their source. */
function changeOf(before: Values, now: Values): Change {
  const differs = (name: keyof Values) => before[name] !== now[name];
  return {
    ...(differs('issuer') ? { issuer: now.issuer } : {}),
    ...(differs('client_id') ? { client_id: now.client_id } : {}),
    ...(now.client_secret !== '' ? { client_secret: now.client_secret } : {}),
    ...(differs('audience') ? { audience: now.audience === '' ? null : now.audience } : {}),
    ...(differs('role_claim') ? { role_claim: now.role_claim } : {}),
    // The service rejects values that are not a role, and the form shows the message.
    ...(differs('role_map') ? { role_map: now.role_map === '' ? null : (pairsOf(now.role_map) as RoleMap) } : {}),
    ...(differs('default_role') ? { default_role: now.default_role } : {}),
    ...(differs('allow_userinfo') ? { allow_userinfo: now.allow_userinfo } : {}),
  };
}

function Form({ settings }: { readonly settings: OidcSettings }) {
  const before = valuesOf(settings);
  const form = useEdits(before);
  /** Shows the settings of a response, without the input of the user. */
  const show = (reply: OidcSettings) => {
    fleet.queries.setQueryData(fleet.read('getOidcSettings').queryKey, reply);
    form.discard();
  };
  const save = useMutation({
    ...fleet.change('setOidcSettings'),
    onSuccess: (reply) => {
      show(reply);
      confirmChange(t('The settings of the identity provider are saved'));
    },
  });
  const reset = useMutation({
    ...fleet.change('resetOidcSettings'),
    onSuccess: (reply) => {
      show(reply);
      confirmChange(t('The settings are those of the environment'));
    },
  });
  const test = useMutation(fleet.change('testOidcSettings'));
  const { sources } = settings;
  const body = changeOf(before, form.values);
  const { error, isTested, onSubmit, buttons } = settingsActions({ save, test, reset, body });
  const errorAt = form.errorsOf(error);
  return (
    <div className="split">
      <form className="panel" onSubmit={onSubmit}>
        <div className="form-section">
          <TextField
            {...form.bind('issuer')}
            label={t('Issuer')}
            placeholder="https://login.example.com/realms/main"
            hint={<SourceHint source={sources.issuer} />}
            mono
            error={errorAt('issuer')}
          />
          <div className="fields">
            <TextField
              {...form.bind('client_id')}
              label={t('Client id')}
              hint={<SourceHint source={sources.client_id} />}
              mono
              error={errorAt('client_id')}
            />
            <TextField
              {...form.bind('client_secret')}
              label={t('Client secret')}
              type="password"
              autoComplete="new-password"
              placeholder={settings.has_client_secret ? t('set; enter a new one to replace it') : t('not set')}
              hint={<SourceHint source={sources.client_secret}>{t('A change of the issuer requires it.')}</SourceHint>}
              error={errorAt('client_secret')}
            />
          </div>
          <TextField
            {...form.bind('audience')}
            label={t('Audience of access tokens')}
            hint={
              <SourceHint source={sources.audience}>
                {t('Empty: access tokens of the provider are not accepted.')}
              </SourceHint>
            }
            mono
            error={errorAt('audience')}
          />
        </div>
        <fieldset className="form-section">
          <h2>{t('Roles')}</h2>
          <div className="fields">
            <TextField
              {...form.bind('role_claim')}
              label={t('Claim')}
              hint={<SourceHint source={sources.role_claim}>{t('Dots separate nested claims.')}</SourceHint>}
              mono
              error={errorAt('role_claim')}
            />
            <SelectField
              {...form.bind('default_role')}
              label={t('Without a matching role')}
              options={[
                { value: 'none', label: t('No access') },
                { value: 'viewer', label: t('Viewer') },
              ]}
              hint={<SourceHint source={sources.default_role} />}
              error={errorAt('default_role')}
            />
          </div>
          <TextAreaField
            {...form.bind('role_map')}
            label={t('Values of the claim')}
            placeholder={'platform-admins=admin\ndevelopers=operator'}
            hint={
              <SourceHint source={sources.role_map}>
                {t('One per line: value=role. Empty: the value of the claim is the role.')}
              </SourceHint>
            }
            rows={4}
            error={errorAt('role_map')}
          />
          <CheckField
            label={t('Ask the userinfo endpoint for claims')}
            hint={<SourceHint source={sources.allow_userinfo} />}
            checked={form.values.allow_userinfo}
            onChange={(checked) => form.set('allow_userinfo', checked)}
          />
        </fieldset>
        <div className="form-section">{buttons(fields)}</div>
      </form>
      <Panel title={t('Test')}>
        {test.data && isTested ? (
          <div className="stack-small" role="status">
            <Notice
              kind={test.data.ok ? 'good' : 'warning'}
              title={test.data.ok ? t('The provider is usable') : t('The provider is not usable yet')}
            />
            <ul>
              {test.data.checks.map(({ name, ok, detail }) => (
                <li key={name} className="check-line">
                  {ok ? (
                    <CircleCheck size={16} className="text-good" aria-label={t('Passed')} />
                  ) : (
                    <CircleX size={16} className="text-bad" aria-label={t('Failed')} />
                  )}
                  <span>
                    <span className="strong">{name}</span> <span className="muted">{detail}</span>
                  </span>
                </li>
              ))}
            </ul>
          </div>
        ) : (
          <p className="muted">{t('Test checks the provider with your input. Nothing is stored.')}</p>
        )}
      </Panel>
    </div>
  );
}
