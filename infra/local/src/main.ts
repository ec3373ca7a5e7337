// npm start: runs the whole product on one machine. PostgreSQL, the development identity provider, hub and fleet are
// child processes. The first start imports a starter catalog and creates a demo organization with credentials. All data
// is in DATA_DIR. It stops all processes on a signal, when one of them fails, or when npm exits.
import { openLifetime, StopRequest, watchForStop } from './lifetime.ts';
import { parseSettings } from './settings.ts';
import { startProduct } from './start.ts';
import { StartError } from './start-error.ts';
import { welcome } from './welcome.ts';

const lifetime = openLifetime();
process.exit(await run());

async function run(): Promise<number> {
  try {
    const settings = parseSettings(process.env, process.argv.slice(2));
    watchForStop(lifetime, { watchParents: settings.startedByNpm });
    const product = await startProduct(settings, lifetime);
    lifetime.signal.throwIfAborted();
    console.log(welcome(settings, product, performance.now() / 1000));
    await untilAborted(lifetime.signal);
    return 0;
  } catch (error) {
    // Errors during the stop are consequences of the first reason.
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

/** Prints why the product stops. @returns the exit code */
function explain(reason: unknown): number {
  if (reason instanceof StopRequest) {
    console.error(`stopping (${reason.message})`);
    return 0;
  }
  console.error(reason instanceof StartError ? reason.message : reason);
  return 1;
}
