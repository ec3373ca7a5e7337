import type { HubWebhookEvent } from '@svc/contract/hub';
import { t } from '../../shared/texts/texts.ts';
import { PageHeader } from '../../shared/ui/shell/PageHeader.tsx';
import { type WebhookService, Webhooks } from '../../shared/webhooks/Webhooks.tsx';
import { hub } from '../api.ts';

const service: WebhookService<HubWebhookEvent> = {
  list: hub.read('listWebhooks'),
  create: hub.change('createWebhook'),
  change: hub.change('updateWebhook'),
  rotate: hub.change('rotateWebhook'),
  test: hub.change('testWebhook'),
  remove: hub.change('deleteWebhook'),
  about: t('A webhook tells another system, such as a chat or a mailbox, that an organization requests access.'),
  events: {
    'access.requested': t('An organization requests access'),
    'access.decided': t('A request for access is decided'),
  },
  selected: ['access.requested'],
};

export default function HubWebhooks() {
  return (
    <>
      <PageHeader
        title={t('Webhooks')}
        about={t('They tell other systems what administrators of the hub have to decide')}
      />
      <Webhooks service={service} />
    </>
  );
}
