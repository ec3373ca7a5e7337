import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { logs, piecesOf } from '../../src/engines/docker/logs.ts';
import { anEngine, clientOf, endAll, serve } from './servers.ts';

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
