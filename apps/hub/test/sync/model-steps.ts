import fc from 'fast-check';
import { callers, momentOf } from './model-catalog.ts';
import { caller, organization, WALKERS, write } from './model-generated.ts';
import * as histories from './model-history.ts';
import type { Hub } from './model-hub.ts';
import type { Poller } from './model-poller.ts';
import { lineOfCommit, nameOf } from './model-script.ts';
import type { Walker } from './model-walker.ts';
import type { Write } from './model-writes.ts';

/** A history with its clients. */
export interface Run {
  readonly history: histories.History;
  readonly pollers: readonly Poller[];
  readonly walkers: readonly Walker[];
}

type Step = fc.AsyncCommand<Run, Hub>;

/** A step that can always be taken unless it says when; `text` is its line in the script of a history that fails. */
const step = (text: string, run: Step['run'], check: Step['check'] = () => true): Step => ({
  check,
  run,
  toString: () => `\n${text}`,
});

const commit = (writes: readonly Write[]) =>
  step(lineOfCommit(writes), ({ history }, hub) => histories.commit(history, hub, writes));

const commits = fc.oneof(
  { weight: 1, arbitrary: write.map((one) => commit([one])) },
  { weight: 1, arbitrary: fc.array(write, { minLength: 2, maxLength: 6, size: 'max' }).map(commit) },
);

const clockStep = fc.constant(
  step('the wall clock steps back', ({ history }, hub) => histories.stepClockBack(history, hub)),
);

const pruning = fc
  .record({ back: fc.oneof(fc.constant(0), fc.nat(9)), later: fc.constantFrom(0, 1, 1) })
  .map(({ back, later }) =>
    step(`prune what ended before the stamp of ${back} commits ago${later ? ' or with it' : ''}`, ({ history }, hub) =>
      histories.prune(history, hub, momentOf(history.state, back) + later),
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

interface Deed<C> {
  readonly text: string;
  readonly run: (client: C) => unknown;
  /** Not done by a client that has everything already. */
  readonly unlessIdle?: true;
}

/** What one client does. */
const by = <C extends Poller | Walker>(clientOf: (run: Run) => C | undefined, { text, run, unlessIdle }: Deed<C>) => {
  const known = (given: Readonly<Run>) => {
    const client = clientOf(given);
    if (!client) throw new RangeError(`nobody is there who ${text}`);
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

const byPoller = (n: number, { text, ...deed }: Deed<Poller>) =>
  by(({ pollers }) => pollers[n], { text: `${nameOf(callers[n])} ${text}`, ...deed });

const byWalker = (n: number, { text, ...deed }: Deed<Walker>) =>
  by(({ walkers }) => walkers[n], { text: `walker ${n} ${text}`, ...deed });

const poller = fc.nat(callers.length - 1);
const walker = fc.nat(WALKERS - 1);
const limit = fc.constantFrom(1, 1, 1, 2, 3);

const poll = poller.map((n) => byPoller(n, { text: 'polls', run: ({ poll }) => poll(), unlessIdle: true }));
const pollAgain = fc
  .tuple(poller, fc.nat(9))
  .map(([n, back]) =>
    byPoller(n, { text: `polls from ${back} commits ago on`, run: ({ pollAgain }) => pollAgain(back) }),
  );

const page = fc
  .tuple(walker, limit)
  .map(([n, limit]) =>
    byWalker(n, { text: `takes a page of ${limit}`, run: ({ page }) => page(limit), unlessIdle: true }),
  );
const complete = fc
  .tuple(walker, limit)
  .map(([n, limit]) => byWalker(n, { text: `walks to the end by ${limit}`, run: ({ complete }) => complete(limit) }));
const restart = fc
  .tuple(walker, limit)
  .map(([n, limit]) =>
    byWalker(n, { text: `starts anew, with a page of ${limit}`, run: ({ restart }) => restart(limit) }),
  );
const takeWhole = walker.map((n) => byWalker(n, { text: 'takes a whole answer', run: ({ takeWhole }) => takeWhole() }));
const become = fc
  .tuple(walker, caller)
  .map(([n, other]) => byWalker(n, { text: `is ${nameOf(other)} from now on`, run: ({ become }) => become(other) }));

const common = [
  { weight: 16, arbitrary: commits },
  { weight: 1, arbitrary: clockStep },
  { weight: 4, arbitrary: pruning },
  { weight: 1, arbitrary: suspension },
  { weight: 1, arbitrary: reactivation },
];

const history = (maxCommands: number, steps: fc.Arbitrary<Step>) =>
  fc.commands<Run, Hub, false>([steps], { maxCommands, size: 'max', disableReplayLog: true });

/** What happens while clients poll with `since`. */
export const polled = history(
  40,
  fc.oneof(...common, { weight: 12, arbitrary: poll }, { weight: 3, arbitrary: pollAgain }),
);

/** What happens while clients walk with `cursor`. */
export const walked = history(
  60,
  fc.oneof(
    ...common,
    { weight: 20, arbitrary: page },
    { weight: 2, arbitrary: complete },
    { weight: 4, arbitrary: restart },
    { weight: 1, arbitrary: takeWhole },
    { weight: 1, arbitrary: become },
    { weight: 3, arbitrary: dump },
    { weight: 3, arbitrary: restore },
  ),
);
