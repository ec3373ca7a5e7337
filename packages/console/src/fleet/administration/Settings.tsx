import { t } from '../../shared/texts/texts.ts';
import { Tabs, useTab } from '../../shared/ui/controls/Tabs.tsx';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { ApprovalSettings } from './ApprovalSettings.tsx';
import { HubSettingsForm } from './HubSettingsForm.tsx';
import { OidcSettingsForm } from './OidcSettingsForm.tsx';
import { TrustSettings } from './TrustSettings.tsx';
import { Webhooks } from './Webhooks.tsx';

const tabs = [
  { id: 'oidc', label: t('Identity provider') },
  { id: 'hub', label: t('Hub') },
  { id: 'trust', label: t('Trust') },
  { id: 'approvals', label: t('Approvals') },
  { id: 'webhooks', label: t('Webhooks') },
] as const;

export default function Settings() {
  const tab = useTab(tabs);
  return (
    <>
      <PageHeader
        title={t('Settings')}
        about={t('They override the environment of the fleet, and take effect immediately')}
      />
      <Tabs label={t('Settings')} tabs={tabs} current={tab} path="/settings" />
      {tab === 'oidc' && <OidcSettingsForm />}
      {tab === 'hub' && <HubSettingsForm />}
      {tab === 'trust' && <TrustSettings />}
      {tab === 'approvals' && <ApprovalSettings />}
      {tab === 'webhooks' && <Webhooks />}
    </>
  );
}
