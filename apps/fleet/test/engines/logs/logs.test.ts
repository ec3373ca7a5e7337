import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { logs, piecesOf } from '../../../src/engines/docker/logs.ts';
import type { LogOptions } from '../../../src/engines/observation.ts';
import { anEngine, clientOf, endAll, serve } from '../servers.ts';

afterEach(endAll);

describe('the lines of a log', () => {
  const frame = (stream: number, bytes: Buffer) => {
    const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
    header.writeUInt32BE(bytes.length, 4);
    return Buffer.concat([header, bytes]);
  };

  /** An engine with one container, whose log `write` sends. */
  async function readingFrom(write: (res: ServerResponse) => void) {
    const labels = { 'app.kubernetes.io/managed-by': 'fleet', 'fleet/deployment': 'd' };
    const Labels = { ...labels, 'fleet/ordinal': '0', 'fleet/generation': '1', 'fleet/body': 'x' };
    const never = '0001-01-01T00:00:00Z';
    const State = { Status: 'exited', Running: false, ExitCode: 0, StartedAt: never, FinishedAt: never };
    const HostConfig = { RestartPolicy: { Name: 'no' }, DeviceRequests: null, Devices: null };
    const engine = anEngine((req, res) => {
      if (req.url?.includes('/containers/json')) {
        return res.end(JSON.stringify([{ Id: 'c', Names: ['/d-0'], Labels, State: 'exited' }]));
      }
      if (req.url?.endsWith('/c/json')) {
        return res.end(JSON.stringify({ Id: 'c', Name: '/d-0', State, Config: { Labels }, HostConfig }));
      }
      return write(res);
    });
    return logs(clientOf(await serve(engine)), { deploymentId: 'd', name: 'd-0' }, { follow: true });
  }

  /** Reads a log that arrives in chunks of `size` bytes. */
  async function linesOf(log: Buffer, size = log.length): Promise<string[]> {
    const reading = await readingFrom((res) => {
      for (let at = 0; at < log.length; at += size) res.write(log.subarray(at, at + size));
      res.end();
    });
    const lines: string[] = [];
    for await (const line of reading) lines.push(line);
    return lines;
  }

  test('are no longer requested after the reader stops', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const reading = await readingFrom((res) => {
      closed = once(res, 'close');
      res.write(frame(1, Buffer.from('one\ntwo\n')));
    });
    expect(await reading.next()).toEqual({ done: false, value: 'one' });
    await reading.return();
    await closed;
  });

  const MIXED = Buffer.concat([
    frame(1, Buffer.from('eins\nzw')),
    frame(2, Buffer.from('an error ü\r\n')),
    frame(1, Buffer.from('ei\n\nwithout an end')),
  ]);

  test.each([1, 3, 8, 1000])('are complete when they arrive in chunks of %p bytes', async (size) => {
    expect(await linesOf(MIXED, size)).toEqual(['eins', 'an error ü', 'zwei', '', 'without an end']);
  });

  test('are truncated to the maximum length, and the next line is complete', async () => {
    const long = frame(1, Buffer.from(`${'x'.repeat(100_000)}\nshort\n`));
    const [first, second] = await linesOf(long, 5000);
    expect(first?.length).toBe(16_384);
    expect(second).toBe('short');
  });

  test.each([Buffer.from('hello, this is no frame'), Buffer.from([9, 0, 0, 0, 0, 0, 0, 1, 65])])(
    'are not read from a response that is not a log: %p',
    async (log) => {
      await expect(linesOf(log)).rejects.toThrow('The server at its endpoint is not a container engine.');
    },
  );

  test('of an empty log are none', async () => {
    const none = (async function* () {})();
    expect((await piecesOf(none).next()).done).toBe(true);
  });
});

/** The frames that a container writes: each is a part of a line of stdout, or of stderr. */
type Frames = readonly (string | { readonly stderr: string })[];

const frameOf = (written: Frames[number]): Buffer => {
  const [stream, text] = typeof written === 'string' ? [1, written] : [2, written.stderr];
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
};

interface Run {
  readonly id?: string;
  readonly startedAt: string;
  readonly frames: Frames;
}

/**
 * An engine with one container, whose followed log ends with each run of its program. The next run
 * begins when the state of the container is read afterwards.
 */
async function anEngineWithRuns(engine: 'docker' | 'podman', runs: readonly Run[]) {
  const Labels = {
    'app.kubernetes.io/managed-by': 'fleet',
    'fleet/deployment': 'd',
    'fleet/ordinal': '0',
    'fleet/generation': '1',
    'fleet/body': 'x',
  };
  const queries: URLSearchParams[] = [];
  let current = 0;
  let hasEnded = false;
  const listener = anEngine(
    (req, res) => {
      const url = new URL(req.url ?? '', 'http://engine');
      if (hasEnded && current < runs.length - 1) [current, hasEnded] = [current + 1, false];
      const { id = 'c', startedAt } = runs[current] ?? { startedAt: '' };
      const State = { Status: 'running', Running: true, ExitCode: 0, StartedAt: startedAt, FinishedAt: startedAt };
      if (url.pathname.endsWith('/containers/json')) {
        return res.end(JSON.stringify([{ Id: id, Names: ['/d-0'], Labels, State: 'running' }]));
      }
      if (!url.pathname.endsWith('/logs')) {
        const HostConfig = { RestartPolicy: { Name: 'on-failure' } };
        return res.end(JSON.stringify({ Id: id, Name: '/d-0', State, Config: { Labels }, HostConfig }));
      }
      queries.push(url.searchParams);
      hasEnded = url.searchParams.has('follow');
      // Docker returns the lines since a time.
      const first =
        url.searchParams.has('since') && engine === 'docker'
          ? current
          : runs.findIndex((run) => (run.id ?? 'c') === id);
      return res.end(Buffer.concat(runs.slice(first, current + 1).flatMap(({ frames }) => frames.map(frameOf))));
    },
    engine === 'docker'
      ? undefined
      : { 'Api-Version': '1.41', 'Libpod-Api-Version': '4.3.1', Server: 'Libpod/4.3.1 (linux)' },
  );
  const client = clientOf(await serve(listener), { engine }, { restart: 1 });
  const read = async (options: LogOptions) => {
    const lines: string[] = [];
    for await (const line of logs(client, { deploymentId: 'd', name: 'd-0' }, options)) lines.push(line);
    return lines;
  };
  return { read, queries };
}

describe('the last lines of a log of Podman', () => {
  const LONG = 'x'.repeat(8192);
  const frames: Frames = [
    'one\n',
    '10% ',
    { stderr: 'warning: ' },
    '50% ',
    '100%\n',
    LONG,
    'END\n',
    { stderr: 'late\n' },
    'last',
    ' part',
  ];

  test.each([
    [0, []],
    [1, ['last part']],
    [2, ['last part', `${LONG}END`]],
    [3, ['last part', `${LONG}END`, 'warning: late']],
    [4, ['last part', `${LONG}END`, 'warning: late', '10% 50% 100%']],
    [9, ['last part', `${LONG}END`, 'warning: late', '10% 50% 100%', 'one']],
  ])('(%d) are complete, also if the container wrote them in parts', async (tail, expected) => {
    const { read, queries } = await anEngineWithRuns('podman', [{ startedAt: '2026-01-01T00:00:00Z', frames }]);
    const lines = await read({ tail });
    expect([...lines].sort()).toEqual([...expected].sort());
    expect(new Set(queries.map((query) => query.get('tail')))).toEqual(new Set(['all']));
  });

  test('have their time once, also if the container wrote them in parts', async () => {
    const timed = ['2026-01-01T00:00:00Z one\n', '2026-01-01T00:00:01Z 10% ', '2026-01-01T00:00:02Z 100%\n'];
    const { read } = await anEngineWithRuns('podman', [{ startedAt: '2026-01-01T00:00:00Z', frames: timed }]);
    expect(await read({ timestamps: true })).toEqual(['2026-01-01T00:00:00Z one', '2026-01-01T00:00:01Z 10% 100%']);
  });
});

describe('a followed log', () => {
  /** Whether the deployment is to run: `times` times yes. */
  const forTimes = (times: number) => {
    let asked = 0;
    return async () => {
      asked += 1;
      return asked <= times;
    };
  };
  const runs: readonly Run[] = [
    { startedAt: '2026-01-01T00:00:00Z', frames: ['first\n', 'unfinished'] },
    { startedAt: '2026-01-01T00:00:05Z', frames: ['second\n'] },
    { id: 'c2', startedAt: '2026-01-01T00:00:09Z', frames: ['third\n'] },
  ];

  test.each(['docker', 'podman'] as const)(
    'continues on %s when its container is started again or replaced',
    async (engine) => {
      const { read } = await anEngineWithRuns(engine, runs);
      const lines = await read({ follow: true, continues: forTimes(5) });
      expect(lines).toEqual(['first', 'unfinished', 'second', 'third']);
    },
  );

  test('ends with its container if nothing starts it again', async () => {
    const { read } = await anEngineWithRuns('podman', runs);
    expect(await read({ follow: true })).toEqual(['first', 'unfinished']);
  });
});
