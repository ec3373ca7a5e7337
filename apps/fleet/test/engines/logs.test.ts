import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { describeWithEngine } from '@svc/testing/engine';
import { logs, piecesOf } from '../../src/engines/docker/logs.ts';
import type { LogOptions } from '../../src/engines/observation.ts';
import { anEngine, clientOf, endAll, serve } from './servers.ts';
import { aDeployment, aMachine, aScript, type Deployment, reconcileTo, running, SLEEP } from './world.ts';

afterEach(endAll);

describeWithEngine('the log of a container', () => {
  const machine = aMachine();

  const started = async (script: string): Promise<Deployment> => {
    const deployment = await aDeployment(aScript(script));
    await reconcileTo(machine().client, {
      wanted: running(await deployment.manifest()),
      fence: deployment.fence(),
      phase: 'running',
    });
    return deployment;
  };
  const read = (deployment: Deployment, options: LogOptions = {}) =>
    logs(machine().client, { deploymentId: deployment.id, name: deployment.name() }, options);

  test('contains the lines of both streams, or only the last lines', async () => {
    const deployment = await started(`echo one; echo 'zwei: ü' >&2; echo three; ${SLEEP}`);
    const all: string[] = [];
    for await (const line of read(deployment)) all.push(line);
    expect([...all].sort()).toEqual(['one', 'three', 'zwei: ü']);
    const last: string[] = [];
    for await (const line of read(deployment, { tail: 1 })) last.push(line);
    expect(last).toHaveLength(1);
    const later: string[] = [];
    for await (const line of read(deployment, { since: new Date(Date.now() + 3_600_000) })) later.push(line);
    expect(later).toEqual([]);
  });

  test('can begin each line with its time', async () => {
    const deployment = await started(`echo one; ${SLEEP}`);
    const lines: string[] = [];
    for await (const line of read(deployment, { timestamps: true })) lines.push(line);
    expect(lines).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\S+ one$/)]);
  });

  test('can be read before the last start of the container', async () => {
    const deployment = await started(`echo run; ${SLEEP}`);
    const previous = async () => {
      const lines: string[] = [];
      for await (const line of read(deployment, { previous: true })) lines.push(line);
      return lines;
    };
    await expect(previous()).rejects.toThrow('has been started only once');
    await machine().podman.byHand('restart', '--time', '0', deployment.name());
    expect(await previous()).toEqual(['run']);
    const all: string[] = [];
    for await (const line of read(deployment)) all.push(line);
    expect(all).toEqual(['run', 'run']);
  });

  test('can be followed until the container ends', async () => {
    const deployment = await started('echo one; until [ -e /tmp/end ]; do sleep 0.05; done; echo two');
    const lines: string[] = [];
    for await (const line of read(deployment, { follow: true })) {
      if (lines.push(line) === 1) await machine().podman.byHand('exec', deployment.name(), 'touch', '/tmp/end');
    }
    expect(lines).toEqual(['one', 'two']);
  });

  test('ends when the reader stops, and with its signal', async () => {
    const deployment = await started('while :; do echo again; sleep 0.1; done');
    const seen: string[] = [];
    for await (const line of read(deployment, { follow: true })) {
      seen.push(line);
      if (seen.length === 5) break;
    }
    expect(seen).toEqual(Array.from({ length: 5 }, () => 'again'));
    const reason = new Error('enough');
    const enough = new AbortController();
    const reading = (async () => {
      for await (const _line of read(deployment, { follow: true, signal: enough.signal })) enough.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
  });

  test('is not returned for a container of another deployment', async () => {
    const deployment = await started(SLEEP);
    const other = await started(SLEEP);
    const reading = logs(machine().client, { deploymentId: deployment.id, name: other.name() });
    await expect(reading.next()).rejects.toThrow(`This deployment has no container ${other.name()}.`);
  });
});

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
