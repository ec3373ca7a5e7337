import fc from 'fast-check';
import { callers, stampOf } from './catalog.ts';
import { caller, organization, WALKERS, write } from './generated.ts';
import * as histories from './history.ts';
import type { Hub } from './hub.ts';
import type { Poller } from './poller.ts';
import { describeCommit, nameOf } from './script.ts';
import type { Walker } from './walker.ts';
import type { Write } from './writes.ts';

/** A history and its clients. */
export interface Run {
  readonly history: histories.History;
  readonly pollers: readonly Poller[];
  readonly walkers: readonly Walker[];
}

type Step = fc.AsyncCommand<Run, Hub>;

/**
 * A step of a history. `check` states when it is possible. `text` is its line in the description of
 * a failing history.
 */
const step = (text: string, run: Step['run'], check: Step['check'] = () => true): Step => ({
  check,
  run,
  toString: () => `\n${text}`,
});

const commit = (writes: readonly Write[]) =>
  step(describeCommit(writes), ({ history }, hub) => histories.commit(history, hub, writes));

const commits = fc.oneof(
  { weight: 1, arbitrary: write.map((one) => commit([one])) },
  { weight: 1, arbitrary: fc.array(write, { minLength: 2, maxLength: 6, size: 'max' }).map(commit) },
);

const clockStep = fc.constant(
  step('set the wall clock back', ({ history }, hub) => histories.stepClockBack(history, hub)),
);

const pruning = fc
  .record({ back: fc.oneof(fc.constant(0), fc.nat(9)), later: fc.constantFrom(0, 1, 1) })
  .map(({ back, later }) =>
    step(
      `prune history that ended ${later ? 'at or before' : 'before'} the stamp of ${back} commits ago`,
      ({ history }, hub) => histories.prune(history, hub, stampOf(history.state, back) + later),
    ),
  );

const suspension = organization.map((one) =>
  step(
    `suspend organization ${one}`,
    ({ history }, hub) => histories.suspend(history, hub, one),
    ({ history }) => !history.suspended.has(one),
  ),
);
const reactivation = organization.map((one) =>
  step(
    `reactivate organization ${one}`,
    ({ history }, hub) => histories.reactivate(history, hub, one),
    ({ history }) => history.suspended.has(one),
  ),
);

const dump = fc.constant(step('dump', ({ history }, hub) => histories.takeDump(history, hub)));
const restore = fc.constant(
  step(
    'restore the dump',
    ({ history }, hub) => histories.restore(history, hub),
    ({ history }) => history.dump !== undefined,
  ),
);

interface Action<C> {
  readonly text: string;
  readonly run: (client: C) => unknown;
  /** The action is skipped if the client has all changes. */
  readonly unlessIdle?: true;
}

/** An action of one client. */
const by = <C extends Poller | Walker>(clientOf: (run: Run) => C | undefined, { text, run, unlessIdle }: Action<C>) => {
  const known = (given: Readonly<Run>) => {
    const client = clientOf(given);
    if (!client) throw new RangeError(`no client for the step: ${text}`);
    return client;
  };
  return step(
    text,
    async (given) => {
      await run(known(given));
    },
    (given) => !(unlessIdle && known(given).isIdle()),
  );
};

const byPoller = (n: number, { text, ...action }: Action<Poller>) =>
  by(({ pollers }) => pollers[n], { text: `${nameOf(callers[n])} ${text}`, ...action });

const byWalker = (n: number, { text, ...action }: Action<Walker>) =>
  by(({ walkers }) => walkers[n], { text: `walker ${n} ${text}`, ...action });

const poller = fc.nat(callers.length - 1);
const walker = fc.nat(WALKERS - 1);
const limit = fc.constantFrom(1, 1, 1, 2, 3);

const poll = poller.map((n) => byPoller(n, { text: 'polls', run: ({ poll }) => poll(), unlessIdle: true }));
const pollAgain = fc
  .tuple(poller, fc.nat(9))
  .map(([n, back]) =>
    byPoller(n, { text: `polls from the stamp of ${back} commits ago`, run: ({ pollAgain }) => pollAgain(back) }),
  );

const page = fc
  .tuple(walker, limit)
  .map(([n, limit]) =>
    byWalker(n, { text: `requests a page of ${limit}`, run: ({ page }) => page(limit), unlessIdle: true }),
  );
const walkToEnd = fc
  .tuple(walker, limit)
  .map(([n, limit]) =>
    byWalker(n, { text: `walks to the end with pages of ${limit}`, run: ({ walkToEnd }) => walkToEnd(limit) }),
  );
const restart = fc
  .tuple(walker, limit)
  .map(([n, limit]) => byWalker(n, { text: `restarts with a page of ${limit}`, run: ({ restart }) => restart(limit) }));
const syncBySince = walker.map((n) => byWalker(n, { text: 'syncs by since', run: ({ syncBySince }) => syncBySince() }));
const switchCaller = fc.tuple(walker, caller).map(([n, other]) =>
  byWalker(n, {
    text: `uses the credential of ${nameOf(other)}`,
    run: ({ switchCaller }) => switchCaller(other),
  }),
);

const common = [
  { weight: 16, arbitrary: commits },
  { weight: 1, arbitrary: clockStep },
  { weight: 4, arbitrary: pruning },
  { weight: 1, arbitrary: suspension },
  { weight: 1, arbitrary: reactivation },
];

const history = (maxCommands: number, steps: fc.Arbitrary<Step>) =>
  fc.commands<Run, Hub, false>([steps], { maxCommands, size: 'max', disableReplayLog: true });

/** The steps of a history with clients that sync by `since`. */
export const pollingSteps = history(
  40,
  fc.oneof(...common, { weight: 12, arbitrary: poll }, { weight: 3, arbitrary: pollAgain }),
);

/** The steps of a history with clients that sync by `cursor`. */
export const walkingSteps = history(
  60,
  fc.oneof(
    ...common,
    { weight: 20, arbitrary: page },
    { weight: 2, arbitrary: walkToEnd },
    { weight: 4, arbitrary: restart },
    { weight: 1, arbitrary: syncBySince },
    { weight: 1, arbitrary: switchCaller },
    { weight: 3, arbitrary: dump },
    { weight: 3, arbitrary: restore },
  ),
);
