import type { WebhookEvent } from '@svc/contract/fleet';
import type { Database } from '../database/client.ts';
import { hasUpdate, subjectOfUpdate } from '../resources/updates.ts';

const EVENT: WebhookEvent = 'deployment.update_available';

/**
 * Records once for each update of a deployment that it is available, while a webhook reports it. The id of the event is derived from
 * what the update leads to, so that replicas record it once.
 */
export const noticeUpdates = ({ client }: Database): Promise<number> => client.$executeRaw`
  INSERT INTO events (id, kind, object_id, name, severity, reason, message)
  SELECT md5(concat_ws(' ', ${EVENT}::text, r.id, ${subjectOfUpdate}))::uuid, 'deployments', r.id, r.name, 'normal', 'UpdateAvailable',
    'An update of the deployment is available.'
  FROM deployments r JOIN workload_revisions v ON v.workload_id = r.workload_id AND v.revision = r.revision
  WHERE EXISTS (SELECT FROM webhooks h WHERE h.disabled_at IS NULL AND ${EVENT} = ANY (h.events))
    AND r.desired_state = 'running' AND NOT r.deleting AND ${hasUpdate(['available', 'held'])}
  ON CONFLICT DO NOTHING`;
