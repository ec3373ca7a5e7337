import { useSyncExternalStore } from 'react';

/**
 * Requests that fail because the session has ended wait here until the user has signed in again.
 * The page stays as it is, so that no input is lost. A page belongs to the first user that it
 * shows: if another one signs in, it is loaded again, and its requests are not repeated.
 */
export interface SessionGate {
  /** Resolves when the user has signed in again, and rejects if another one has. */
  readonly wait: () => Promise<void>;
  /** Tells all tabs of the browser that the user has signed in. */
  readonly announceSignIn: () => void;
  /** Tells the other tabs of the browser that the user has signed out. They are loaded again. */
  readonly announceSignOut: () => void;
  /** Is given the user of each session that the page reads. Returns whether the page remains. */
  readonly note: (user: SessionUser | null) => boolean;
  readonly useIsWaiting: () => boolean;
  /** Runs when the user has signed in again, in this tab or in another one. */
  readonly onSignIn: (listener: () => void) => void;
}

export interface SessionUser {
  readonly kind?: string;
  /** null: the temporary admin */
  readonly id: string | null;
}

/** @param readUser reads the user of the current session from the service */
export function createSessionGate(readUser: () => Promise<SessionUser | null>): SessionGate {
  const channel = new BroadcastChannel('session');
  const listeners = new Set<() => void>();
  const signInListeners = new Set<() => void>();
  let waiting: ReturnType<typeof newWaiting> | undefined;
  let shown: string | undefined;
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const note = (user: SessionUser | null) => {
    if (!user) return true;
    const key = `${user.kind ?? ''}:${user.id}`;
    shown ??= key;
    if (shown === key) return true;
    waiting?.reject(new Error('Another user has signed in.'));
    location.reload();
    return false;
  };
  const signedIn = async () => {
    const user = await readUser().catch(() => null);
    if (!user || !note(user)) return; // without a session, the requests continue to wait
    waiting?.resolve();
    waiting = undefined;
    notify();
    for (const listener of signInListeners) listener();
  };
  channel.onmessage = ({ data }) => {
    if (data !== 'signed-out') void signedIn();
    else if (shown !== undefined) location.reload();
  };
  return {
    wait: () => {
      waiting ??= newWaiting();
      notify();
      return waiting.promise;
    },
    announceSignIn: () => {
      channel.postMessage('signed-in');
      void signedIn();
    },
    announceSignOut: () => channel.postMessage('signed-out'),
    note,
    useIsWaiting: () =>
      useSyncExternalStore(
        (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        () => waiting !== undefined,
      ),
    onSignIn: (listener) => void signInListeners.add(listener),
  };
}

function newWaiting() {
  let resolve = () => {};
  let reject: (reason: Error) => void = () => {};
  const promise = new Promise<void>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  return { promise, resolve, reject };
}
