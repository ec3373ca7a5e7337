// Random histories of a catalog and of clients that sync with it by `since` or by `cursor`. A client that has received
// everything holds exactly what its caller finds in the list, and no answer names a template that its caller could not see.
import { byDepth, seed } from '@svc/testing';
import { toRepeat } from '@svc/testing/properties';
import fc from 'fast-check';
import { callers, latest } from './model-catalog.ts';
import { beginnings } from './model-generated.ts';
import { type Beginning, begin, prune, reactivate } from './model-history.ts';
import { aHub, type Hub } from './model-hub.ts';
import { aPoller } from './model-poller.ts';
import { lineOfBeginning } from './model-script.ts';
import { polled, type Run, walked } from './model-steps.ts';
import { aWalker } from './model-walker.ts';

const HISTORIES = byDepth({ short: 12, full: 300, long: 3400 });

const hub = await aHub();
afterAll(() => hub.stop());

type Steps = Iterable<fc.AsyncCommand<Run, Hub>>;

async function startPolling(beginning: Beginning): Promise<Run> {
  const history = await begin(hub, beginning);
  return { history, pollers: callers.map((caller) => aPoller({ hub, history }, caller)), walkers: [] };
}

async function startWalking(beginning: Beginning): Promise<Run> {
  const history = await begin(hub, beginning);
  return { history, pollers: [], walkers: beginning.walkers.map((caller) => aWalker({ hub, history }, caller)) };
}

/** Finally every organization is active again, and every client syncs. In half of the runs the history is pruned first. */
async function finish({ history, pollers, walkers }: Run, isPruned: boolean) {
  for (const organization of history.suspended) await reactivate(history, hub, organization);
  if (isPruned) await prune(history, hub, latest(history.state).at + 1);
  for (const { isIdle, poll } of pollers) if (!isIdle()) await poll();
  for (const { complete } of walkers) await complete(3);
}

interface Wanted {
  readonly start: (beginning: Beginning) => Promise<Run>;
  readonly steps: fc.Arbitrary<Steps>;
  readonly histories: number;
}

const takeSteps = ({ start, steps, histories }: Wanted) =>
  fc.assert(
    fc.asyncProperty(beginnings, steps, fc.boolean(), async (beginning, taken, isPruned) => {
      const run = await start(beginning);
      await fc.asyncModelRun(() => ({ model: run, real: hub }), taken);
      await finish(run, isPruned);
    }),
    { seed, numRuns: histories, reporter: report },
  );

/** Prints a history that fails as a script. */
function report({ failed, counterexample, errorInstance, numRuns }: fc.RunDetails<[Beginning, Steps, boolean]>) {
  if (!failed || !counterexample) return;
  const [beginning, steps, isPruned] = counterexample;
  const taken = String(steps).replaceAll(',\n', '\n'); // those that were taken, with commas between
  const end = `${isPruned ? 'prune everything; ' : ''}every client syncs`;
  const script = `${lineOfBeginning(beginning)}${taken}\n${end}`;
  throw new Error(`History ${numRuns} fails. ${toRepeat}\n${script}\n\n${errorInstance}`, { cause: errorInstance });
}

const TIME = 120_000 + HISTORIES * 1000;
const POLLED = Math.ceil(HISTORIES / 3);

test(
  'clients that sync by since hold what their callers see after any history',
  () => takeSteps({ start: startPolling, steps: polled, histories: POLLED }),
  TIME,
);

test(
  'clients that sync by cursor hold what their callers see after any history',
  () => takeSteps({ start: startWalking, steps: walked, histories: HISTORIES - POLLED }),
  TIME,
);
