import type { TemplateTopic } from '@svc/contract';
import { t } from '../texts/texts.ts';

/**
 * The headings under which a form shows the members of each topic, in the order of the form. A topic
 * without a heading consists of one member.
 */
export const topicHeadings: Readonly<Record<TemplateTopic, string>> = {
  catalog: t('In the catalog'),
  image: t('Image'),
  resources: t('Requirements'),
  security: t('Security'),
  scheduling: t('Placement'),
  networks: t('Placement'),
  ports: t('Ports and volumes'),
  volumes: t('Ports and volumes'),
  environment: t('Variables'),
  documentation: '',
};
