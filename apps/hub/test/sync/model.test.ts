// Random histories of a catalog and of clients that keep up with it, by `since` and by `cursor`: whatever happens, what a
// client applied is what its caller finds in the list once it has everything, and no answer names what its caller could
// not have seen. HISTORIES=<n> for more than 300 of them.
import fc from 'fast-check';
import { callers, latest } from './model-catalog.ts';
import { beginnings } from './model-generated.ts';
import { type Beginning, begin, prune, reactivate } from './model-history.ts';
import { aHub, type Hub } from './model-hub.ts';
import { aPoller } from './model-poller.ts';
import { lineOfBeginning } from './model-script.ts';
import { polled, type Run, walked } from './model-steps.ts';
import { aWalker } from './model-walker.ts';

const HISTORIES = Number(process.env.HISTORIES ?? 300);

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

/** At the end everybody is let in again, and asks until there is no more; half of the time nothing of the past is left. */
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
    { numRuns: histories, reporter: report },
  );

/** A history that fails is told as a script. */
function report({ failed, counterexample, errorInstance, numRuns, seed }: fc.RunDetails<[Beginning, Steps, boolean]>) {
  if (!failed || !counterexample) return;
  const [beginning, steps, isPruned] = counterexample;
  const taken = String(steps).replaceAll(',\n', '\n'); // those that were taken, with commas between
  const end = `${isPruned ? 'prune everything; ' : ''}everybody asks until there is no more`;
  const script = `${lineOfBeginning(beginning)}${taken}\n${end}`;
  throw new Error(`History ${numRuns} of seed ${seed}:\n${script}\n\n${errorInstance}`, { cause: errorInstance });
}

const TIME = 120_000 + HISTORIES * 1000;
const A_THIRD = Math.ceil(HISTORIES / 3);

test(
  'clients that poll with since hold what their callers see, whatever happened',
  () => takeSteps({ start: startPolling, steps: polled, histories: A_THIRD }),
  TIME,
);

test(
  'clients that walk with a cursor hold what their callers see, whatever happened',
  () => takeSteps({ start: startWalking, steps: walked, histories: HISTORIES - A_THIRD }),
  TIME,
);
