import { EngineFailure, Unreachable } from '../../errors.ts';
import type { InstanceEvent } from '../../observation.ts';
import { oneLine } from '../../redact.ts';
import type { KubernetesClient } from '../client.ts';

const MAX_EVENTS = 100;

/**
 * The events about an object, newest first. Their messages are not redacted yet. Events only explain a state, so a failed request for
 * them is ignored, unless the cluster is unreachable.
 */
export async function eventsOf(client: KubernetesClient, uid: string | undefined): Promise<InstanceEvent[]> {
  if (uid === undefined) return [];
  try {
    const { core } = await client.apis();
    const fieldSelector = `involvedObject.uid=${uid}`;
    const { namespace } = client.address;
    const { items } = await core.listNamespacedEvent({ namespace, fieldSelector, limit: MAX_EVENTS });
    return (items ?? [])
      .map(({ message = '', reason = '', type = '', lastTimestamp, eventTime }) => ({
        at: timeOf(lastTimestamp ?? eventTime),
        type,
        reason,
        message: oneLine(message),
      }))
      .sort((a, b) => b.at - a.at)
      .map(({ at, ...event }) => ({ ...event, at: at === 0 ? null : new Date(at).toISOString() }));
  } catch (error) {
    if (error instanceof EngineFailure && !(error instanceof Unreachable)) return [];
    throw error;
  }
}

/** The message of the latest warning; '' if there is none. */
export const warningIn = (events: readonly InstanceEvent[], about = /./): string =>
  events.find(({ type, message }) => type === 'Warning' && about.test(message))?.message ?? '';

/** The message of the latest warning about an object; '' if there is none. */
export const lastWarning = async (client: KubernetesClient, uid: string | undefined): Promise<string> =>
  warningIn(await eventsOf(client, uid));

/**
 * The time of an event in milliseconds; 0 if it is unknown. The scheduler sends no `lastTimestamp`,
 * and the client library leaves the text of an `eventTime`, which has microseconds.
 */
const timeOf = (time: Date | string | null | undefined): number =>
  time === null || time === undefined ? 0 : new Date(time).getTime() || 0;
