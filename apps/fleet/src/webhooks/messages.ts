import type { WebhookEvent } from '@svc/contract/fleet';
import { bodyOf, pageUrl, type WebhookMessage } from '@svc/delivery';

/** An event that was recorded. */
export interface FollowedEvent {
  readonly id: string;
  readonly at: Date;
  readonly kind: string;
  readonly object_id: string;
  readonly name: string;
  readonly severity: string;
  readonly reason: string;
}

/** What webhooks report of the problems of a kind of object, and of their ends. */
const PROBLEMS: Readonly<
  Record<string, { readonly reason?: string; readonly begin: WebhookEvent; readonly end: WebhookEvent }>
> = {
  deployments: { begin: 'deployment.failed', end: 'deployment.recovered' },
  hosts: { reason: 'Unreachable', begin: 'host.unreachable', end: 'host.recovered' },
  clusters: { reason: 'Unreachable', begin: 'cluster.unreachable', end: 'cluster.recovered' },
  sources: { begin: 'source.failed', end: 'source.recovered' },
};

/** What they report of notices, by `<kind> <reason>`. Whoever records such a notice emits the event. */
const NOTICES: Readonly<Record<string, WebhookEvent>> = {
  'deployments RolledBack': 'deployment.rolled_back',
  'deployments UpdateAvailable': 'deployment.update_available',
  'plans NeedsApproval': 'plan.needs_approval',
};

function webhookEventOf({ kind, severity, reason }: FollowedEvent): WebhookEvent | undefined {
  const problem = PROBLEMS[kind];
  if (severity !== 'warning') return reason === 'Recovered' ? problem?.end : NOTICES[`${kind} ${reason}`];
  return problem?.reason === undefined || problem.reason === reason ? problem?.begin : undefined;
}

/** The message about an event; undefined if webhooks do not report it. It contains no values. */
export function messageOf(event: FollowedEvent, publicUrl: string | undefined): WebhookMessage | undefined {
  const type = webhookEventOf(event);
  if (type === undefined) return undefined;
  const { id, at, kind, object_id, name, reason } = event;
  const path = `${kind}/${object_id}`;
  const data = { kind, id: object_id, name, reason, path: `/api/v1/${path}`, url: pageUrl(publicUrl, path) };
  return { id, at, event: type, object_id, body: bodyOf(type, at, data) };
}
