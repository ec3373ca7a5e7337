import type { WebhookEvent } from '@svc/contract/fleet';
import { t } from '../../shared/texts/texts.ts';
import { Webhooks as SharedWebhooks, type WebhookService } from '../../shared/webhooks/Webhooks.tsx';
import { fleet } from '../api.ts';

const events: WebhookService<WebhookEvent>['events'] = {
  'deployment.failed': t('A deployment has a problem'),
  'deployment.recovered': t('A deployment has recovered'),
  'deployment.rolled_back': t('A failed update was rolled back'),
  'deployment.update_available': t('An update is available'),
  'host.unreachable': t('A host is unreachable'),
  'host.recovered': t('A host is reachable again'),
  'cluster.unreachable': t('A cluster is unreachable'),
  'cluster.recovered': t('A cluster is reachable again'),
  'plan.needs_approval': t('A plan waits for approval'),
  'source.failed': t('A source of files has failed'),
  'source.recovered': t('A source of files has recovered'),
};

const service: WebhookService<WebhookEvent> = {
  list: fleet.read('listWebhooks'),
  create: fleet.change('createWebhook'),
  change: fleet.change('updateWebhook'),
  rotate: fleet.change('rotateWebhook'),
  test: fleet.change('testWebhook'),
  remove: fleet.change('deleteWebhook'),
  about: t('A webhook tells another system, such as a chat or a pager, what happens in the fleet.'),
  events,
  selected: ['deployment.failed', 'deployment.recovered', 'deployment.rolled_back', 'deployment.update_available'],
};

/** The webhooks of the fleet, as a tab of the settings. */
export const Webhooks = () => <SharedWebhooks service={service} />;
