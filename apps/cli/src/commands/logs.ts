import { setTimeout as pause } from 'node:timers/promises';
import { type Fleet, fleetOf, reply, STREAM } from '../api.ts';
import { Failure } from '../errors.ts';
import { given } from '../given.ts';
import type { Action, Common } from '../invocation.ts';
import { deploymentId } from '../names.ts';
import { tell, writeLine } from '../output.ts';
import { logLine } from '../text.ts';

interface LogsOptions extends Common {
  readonly follow?: boolean;
  readonly tail?: number;
  readonly since?: string;
  readonly previous?: boolean;
  readonly all?: boolean;
  readonly container?: string;
  readonly timestamps?: boolean;
}

/** The time of a line, after the name of its instance if there is one. */
const TIMED = /^((?:\S+ \| )?)(\d{4}-\d\d-\d\dT\S+Z) /;

/** The time before a log that was interrupted is opened again, in milliseconds. */
const AGAIN_MS = 1000;

/** Prints the log of a deployment. A log that is followed is opened again if the connection ends. */
export const logs: Action<LogsOptions> = async ([name = ''], options) => {
  const fleet = fleetOf(options);
  const id = await deploymentId(fleet, name);
  if (options.follow !== true) {
    await readLog(fleet, { id, ...queryOf(options), onLine: (line) => writeLine(logLine(line)) });
    return undefined;
  }
  let second = '';
  let printed = new Set<string>();
  const onLine = (line: string) => {
    const [, , time = ''] = TIMED.exec(line) ?? [];
    const own = time.slice(0, SECOND);
    if (own !== '' && own === second && printed.has(line)) return; // it was printed before the interruption
    if (own > second) {
      second = own;
      printed = new Set();
    }
    printed.add(line);
    writeLine(logLine(options.timestamps === true ? line : line.replace(TIMED, '$1')));
  };
  const query = { ...queryOf(options), timestamps: true, follow: true };
  for (let isFirst = true; ; isFirst = false) {
    const again = isFirst || second === '' ? {} : { since: `${second}Z`, tail: MAX_TAIL };
    const hasEnded = await readLog(fleet, { id, ...query, ...again, onLine }).then(
      () => true,
      (error: unknown) => {
        const isRefused = error instanceof Failure && error.cause === undefined;
        if (isRefused || (isFirst && error instanceof Failure)) throw error;
        return false;
      },
    );
    if (hasEnded) return undefined;
    tell('The connection has ended. The log is opened again.');
    await pause(AGAIN_MS);
  }
};

/** The length of a timestamp up to its seconds. */
const SECOND = 'yyyy-mm-ddThh:mm:ss'.length;
const MAX_TAIL = 10_000;

const queryOf = ({ tail, since, previous, all, container, timestamps }: LogsOptions) =>
  given({ tail, since, previous, all, container, timestamps });

interface LogRequest {
  readonly id: string;
  readonly onLine: (line: string) => void;
  readonly tail?: number;
  readonly since?: string;
  readonly previous?: boolean;
  readonly all?: boolean;
  readonly container?: string;
  readonly timestamps?: boolean;
  readonly follow?: boolean;
}

/** Reads a log to its end. @throws Failure if the service refuses it, and another error if the connection ends */
async function readLog(fleet: Fleet, { id, onLine, ...query }: LogRequest): Promise<void> {
  const body = await reply(
    fleet.GET('/api/v1/deployments/{id}/logs', {
      params: { path: { id }, query },
      headers: { Accept: STREAM },
      parseAs: 'stream',
    }),
  );
  if (!body) return;
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  }
  if (rest !== '') onLine(rest);
}
