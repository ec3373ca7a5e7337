import pg from 'pg';
import type { DatabaseTarget } from './target.ts';

export interface Subscription {
  close(): Promise<void>;
}

interface Options {
  /** How the next connection is opened. */
  readonly target: () => DatabaseTarget;
  readonly applicationName: string;
  /** Receives the error each time the connection is lost or cannot be opened. */
  readonly onError: (error: Error) => void;
}

const RETRY_MS = 1000;
const CONNECT_TIMEOUT_MS = 5000;

/**
 * Calls `onNotification` for each notification on a channel, on a connection of its own that is
 * opened again if it is lost. It is also called after the connection was opened, because
 * notifications before are lost. Callers must not depend on notifications: they only make work
 * start earlier.
 */
export function subscribe(
  channel: string,
  onNotification: () => void,
  { target, applicationName, onError }: Options,
): Subscription {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const retry = () => {
    if (!isClosed) timer = setTimeout(() => void open(), RETRY_MS).unref();
  };
  const open = async () => {
    const opening = new pg.Client({
      ...target(),
      application_name: applicationName,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
    });
    client = opening;
    opening.on('error', onError);
    opening.on('notification', onNotification);
    opening.once('end', retry);
    try {
      await opening.connect();
      await opening.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
      onNotification();
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
      await opening.end().catch(() => undefined); // `onError` received the reason
    }
  };
  void open();
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await client?.end().catch(() => undefined); // it is closed in any case
    },
  };
}
