export {
  type AuditDeliverySettings,
  auditDeliveryCheck,
  auditDeliveryRules,
  auditDeliverySettings,
  createAuditDelivery,
} from './audit.ts';
export { createDelivery, type Delivery, type DeliveryTimings, type Row, type Source, type Store } from './delivery.ts';
export { observeDeliveries, observeWebhooks } from './metrics.ts';
export { createSender, type Sender, type SenderTimings, WEBHOOK_LIMITS } from './webhooks/sender.ts';
export { newSigningSecret } from './webhooks/signature.ts';
