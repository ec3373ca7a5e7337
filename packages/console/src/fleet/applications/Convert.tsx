import { Rocket } from 'lucide-react';
import { ConvertPage } from '../../shared/convert/ConvertPage.tsx';
import { t } from '../../shared/texts/texts.ts';
import { useBlocked } from '../api.ts';
import { DeployApplication } from './deploy/DeployApplication.tsx';

/** Converts a Compose file to an application, which the person then plans and deploys. */
export default function Convert() {
  const blocked = useBlocked();
  return (
    <ConvertPage
      crumbs={[{ label: t('Catalog'), href: '/catalog' }]}
      next={{
        action: t('Plan and deploy'),
        icon: Rocket,
        blocked: blocked('createApplication'),
        hint: t(
          'Until here, nothing has left your browser. The next page sends the application to this fleet, which plans it.',
        ),
        render: (application, onBack) => <DeployApplication application={application} onBack={onBack} />,
      }}
    />
  );
}
