// Random histories of a catalog and of clients that sync by `since` or by `cursor`. At the end of a
// sync, the copy of a client equals the list that its caller sees, and no response contains a
// template that the caller could not see. A replay of all revisions gives the templates.
import { byDepth, seed } from '@svc/testing';
import { repeatHint } from '@svc/testing/properties';
import fc from 'fast-check';
import { objectKinds } from '../../objects.ts';
import { callers, latest } from './catalog.ts';
import { initialStates } from './generated.ts';
import { beginHistory, type InitialState, prune, reactivate } from './history.ts';
import { aHub, type Hub } from './hub.ts';
import { aPoller } from './poller.ts';
import { describeInitialState } from './script.ts';
import { pollingSteps, type Run, walkingSteps } from './steps.ts';
import { aWalker } from './walker.ts';

/** Most histories are of templates, because the code is the same. */
const HISTORIES = {
  templates: byDepth({ short: 12, full: 300, long: 3400 }),
  applications: byDepth({ short: 3, full: 60, long: 700 }),
};

const hubs = { templates: await aHub(), applications: await aHub({ kind: 'applications' }) };
afterAll(() => Promise.all([hubs.templates.stop(), hubs.applications.stop()]));

type Steps = Iterable<fc.AsyncCommand<Run, Hub>>;

async function startPolling(hub: Hub, initialState: InitialState): Promise<Run> {
  const history = await beginHistory(hub, initialState);
  return { history, pollers: callers.map((caller) => aPoller({ hub, history }, caller)), walkers: [] };
}

async function startWalking(hub: Hub, initialState: InitialState): Promise<Run> {
  const history = await beginHistory(hub, initialState);
  return { history, pollers: [], walkers: initialState.walkers.map((caller) => aWalker({ hub, history }, caller)) };
}

/**
 * Reactivates all organizations and syncs all clients. In half of the runs, the history is pruned
 * first.
 */
async function finish(hub: Hub, { history, pollers, walkers }: Run, isPruned: boolean) {
  for (const organization of history.suspended) await reactivate(history, hub, organization);
  if (isPruned) await prune(history, hub, latest(history.state).at + 1);
  for (const { isIdle, poll } of pollers) if (!isIdle()) await poll();
  for (const { walkToEnd } of walkers) await walkToEnd(3);
  const { replayed, stored } = await hub.contents();
  expect(replayed).toEqual(stored);
}

interface Property {
  readonly hub: Hub;
  readonly start: (hub: Hub, initialState: InitialState) => Promise<Run>;
  readonly steps: fc.Arbitrary<Steps>;
  readonly histories: number;
}

const checkProperty = ({ hub, start, steps, histories }: Property) =>
  fc.assert(
    fc.asyncProperty(initialStates, steps, fc.boolean(), async (initialState, taken, isPruned) => {
      const run = await start(hub, initialState);
      await fc.asyncModelRun(() => ({ model: run, real: hub }), taken);
      await finish(hub, run, isPruned);
    }),
    { seed, numRuns: histories, reporter: report },
  );

/** Throws an error with a description of the failing history. */
function report({ failed, counterexample, errorInstance, numRuns }: fc.RunDetails<[InitialState, Steps, boolean]>) {
  if (!failed || !counterexample) return;
  const [initialState, steps, isPruned] = counterexample;
  // The executed steps, which fast-check separates with commas.
  const taken = String(steps).replaceAll(',\n', '\n');
  const end = `${isPruned ? 'prune everything; ' : ''}every client syncs`;
  const script = `${describeInitialState(initialState)}${taken}\n${end}`;
  throw new Error(`History ${numRuns} fails. ${repeatHint}\n${script}\n\n${errorInstance}`, { cause: errorInstance });
}

describe.each(objectKinds)('clients that sync %s', (kind) => {
  const hub = hubs[kind];
  const histories = HISTORIES[kind];
  const polled = Math.ceil(histories / 3);
  const time = 120_000 + histories * 1000;

  test(
    'by since hold what their callers see after any history',
    () => checkProperty({ hub, start: startPolling, steps: pollingSteps, histories: polled }),
    time,
  );

  test(
    'by cursor hold what their callers see after any history',
    () => checkProperty({ hub, start: startWalking, steps: walkingSteps, histories: histories - polled }),
    time,
  );
});
