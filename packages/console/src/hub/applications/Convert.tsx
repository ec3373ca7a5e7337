import { Send } from 'lucide-react';
import { ConvertPage } from '../../shared/convert/ConvertPage.tsx';
import { t } from '../../shared/texts/texts.ts';
import { useBlocked } from '../api.ts';
import { PublishApplication } from './PublishApplication.tsx';

/** Converts a Compose file to an application, which the person then publishes. */
export default function Convert() {
  const blocked = useBlocked();
  return (
    <ConvertPage
      crumbs={[{ label: t('Applications'), href: '/admin/applications' }]}
      next={{
        action: t('Publish…'),
        icon: Send,
        blocked: blocked('createApplication'),
        hint: t('Until here, nothing has left your browser. On the next page, you send the application to this hub.'),
        render: (application, onBack) => <PublishApplication application={application} onBack={onBack} />,
      }}
    />
  );
}
