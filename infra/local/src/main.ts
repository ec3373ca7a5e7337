// npm start: the whole product on one machine. PostgreSQL, the development identity provider, hub and fleet, each a
// child process; a starter catalog, a demo organization and its credentials the first time. Everything that is kept
// lies in DATA_DIR. It ends with everything that it started: on a signal, when a part fails, when npm is gone.
import { openLifetime, StopRequest, watchForStop } from './lifetime.ts';
import { parseSettings } from './settings.ts';
import { startProduct } from './start.ts';
import { StartError } from './start-error.ts';
import { welcome } from './welcome.ts';

const lifetime = openLifetime();
process.exit(await run());

async function run(): Promise<number> {
  try {
    const settings = parseSettings(process.env);
    watchForStop(lifetime, { watchParents: settings.startedByNpm });
    const product = await startProduct(settings, lifetime);
    lifetime.signal.throwIfAborted();
    console.log(welcome(settings, product, performance.now() / 1000));
    await untilAborted(lifetime.signal);
    return 0;
  } catch (error) {
    // Whatever breaks on the way down breaks because of the first reason.
    return explain(lifetime.signal.aborted ? lifetime.signal.reason : error);
  } finally {
    await lifetime.end();
  }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

/** Tells the person at the terminal why it ends; answers the exit code. */
function explain(reason: unknown): number {
  if (reason instanceof StopRequest) {
    console.error(`stopping (${reason.message})`);
    return 0;
  }
  console.error(reason instanceof StartError ? reason.message : reason);
  return 1;
}
