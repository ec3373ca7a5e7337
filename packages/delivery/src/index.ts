export {
  type AuditDeliverySettings,
  auditDeliveryCheck,
  auditDeliveryRules,
  auditDeliverySettings,
  createAuditDelivery,
} from './audit.ts';
export { createDelivery, type Delivery, type DeliveryTimings, type Row, type Source, type Store } from './delivery.ts';
export { observeDeliveries, observeWebhooks } from './metrics.ts';
export {
  readDeliveries,
  readWebhooks,
  type WebhookCreator,
  webhookAdministration,
} from './webhooks/administration.ts';
export { createWebhookSending, type WebhookSending, type WebhookTimings } from './webhooks/background.ts';
export { bodyOf, pageUrl, storeMessages, type WebhookMessage } from './webhooks/messages.ts';
export { WEBHOOK_LIMITS } from './webhooks/sender.ts';
export { disableWebhook, disableWebhooksOf, LOST_RIGHT, pruneDeliveries } from './webhooks/upkeep.ts';
