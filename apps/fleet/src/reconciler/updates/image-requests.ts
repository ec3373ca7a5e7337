import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../database/client.ts';
import type { ImageTag } from '../../deployments/updates/image.ts';
import type { ReconcilerTimings } from '../timings.ts';

/** The maximum number of requests of this process that wait at the same time. Others do not wait. */
const MAX_WAITING = 16;

/** Waits until a requested check has ended, by whichever replica, or for the maximum time. It holds no connection meanwhile. */
export type AwaitImageCheck = (tag: ImageTag) => Promise<void>;

/** @param wake starts the search of this process for checks */
export function createImageRequests(
  { client }: Database,
  { imageCheckWait, firstCheckPoll }: Pick<ReconcilerTimings, 'imageCheckWait' | 'firstCheckPoll'>,
  wake: () => void,
): AwaitImageCheck {
  let waiting = 0;

  const isPending = async ({ host_id, registry_url, image_name, image_tag }: ImageTag): Promise<boolean> => {
    const [row] = await client.$queryRaw<{ is_pending: boolean }[]>`
      SELECT requested OR coalesce(lease_until > now(), false) AS is_pending FROM image_checks
      WHERE (host_id, registry_url, image_name, image_tag) = (${host_id}::uuid, ${registry_url}, ${image_name}, ${image_tag})`;
    return row?.is_pending === true;
  };

  return async (tag) => {
    wake();
    if (waiting >= MAX_WAITING) return;
    waiting++;
    try {
      for (const until = Date.now() + imageCheckWait; Date.now() < until; ) {
        await pause(Math.min(firstCheckPoll, until - Date.now()));
        if (!(await isPending(tag))) return;
      }
    } finally {
      waiting--;
    }
  };
}
