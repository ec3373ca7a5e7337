export {
  type AuditDeliverySettings,
  auditDeliveryCheck,
  auditDeliveryRules,
  auditDeliverySettings,
  createAuditDelivery,
} from './audit.ts';
export type { Delivery, Row } from './delivery.ts';
export { observeDeliveries } from './metrics.ts';
