import { setTimeout as delay } from 'node:timers/promises';
import type { Reader } from '@svc/database';
import { createRevisionCheck, type Revision, type RevisionCheck } from '../../src/revision/revision.ts';
import { anInstance, type World } from '../world.ts';

const POLLERS = 4;

/** A check of the revision, which is faulty in the controls. */
interface TestedCheck extends RevisionCheck {
  /**
   * After it, even a faulty check resolves to a revision that includes everything that was
   * committed before the call.
   */
  catchUp(): Promise<void>;
}

/**
 * The result of each statement arrives late, so that changes are acknowledged while a check is in
 * progress.
 */
const late = (reader: Reader): Reader => ({
  async read(statement) {
    const rows = await reader.read<never>(statement);
    await delay(3);
    return rows;
  },
});

const isAlwaysCurrent = async () => undefined;

const checks = {
  'the check of the hub': (reader: Reader): TestedCheck => ({
    ...createRevisionCheck(late(reader)),
    catchUp: isAlwaysCurrent,
  }),
  /** A control: requests join a check that started before they arrived. */
  'a check that joins the one in progress': (reader: Reader): TestedCheck => {
    const check = createRevisionCheck(late(reader));
    let inProgress: Promise<Revision> | undefined;
    return {
      latest() {
        inProgress ??= check.latest().finally(() => {
          inProgress = undefined;
        });
        return inProgress;
      },
      async catchUp() {
        await inProgress;
      },
    };
  },
  /** A control: the revision is read again after a notification only. */
  'a check that waits for notifications': (reader: Reader): TestedCheck => {
    const check = createRevisionCheck(reader);
    let known: Promise<Revision> | undefined;
    return {
      latest() {
        known ??= check.latest();
        return known;
      },
      async catchUp() {
        known = undefined;
      },
    };
  },
};

export type CheckName = keyof typeof checks;

/** A second replica, with callers that keep its check busy. */
export function aReplica(world: World, name: CheckName) {
  let catchUp: () => Promise<void> = isAlwaysCurrent;
  const revisions = (reader: Reader) => {
    const check = checks[name](reader);
    catchUp = check.catchUp;
    return check;
  };
  const replica = anInstance(world.databaseUrl, world.issuer, { revisions });
  const stopped = new AbortController();
  const poll = async () => {
    const path = '/api/v1/catalog/templates/updates?since=2999-01-01T00:00:00Z';
    while (!stopped.signal.aborted) await replica.api().get(path);
  };
  const polling = Promise.all(Array.from({ length: POLLERS }, poll));
  return {
    anonymous: replica.api(),
    as: ({ key }: { readonly key: string }) => replica.api(`Bearer ${key}`),
    api: replica.api,
    catchUp: () => catchUp(),
    stop: async () => {
      stopped.abort();
      await polling;
      await replica.stop();
    },
  };
}

export type Replica = ReturnType<typeof aReplica>;
