import { expect, test } from '@jest/globals';
import { eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { logs } from '../../../src/engines/docker/logs.ts';
import type { LogOptions } from '../../../src/engines/observation.ts';
import { aDeployment, aMachine, aScript, type Deployment, reconcileTo, running, SLEEP } from '../world.ts';

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

  test('contains whole lines with tail, also if the container wrote them in parts', async () => {
    const long = 'x=0123456789abcdef; x=$x$x$x$x; x=$x$x$x$x; x=$x$x$x$x; echo $x$x$x$x';
    const deployment = await started(
      `echo one; printf '10%% '; sleep 0.2; printf '50%% '; sleep 0.2; echo '100%'; ${long}; printf last; sleep 0.2; printf ' part'; ${SLEEP}`,
    );
    const last = async (tail: number, options: LogOptions = {}) => {
      const lines: string[] = [];
      for await (const line of read(deployment, { ...options, tail })) lines.push(line);
      return lines;
    };
    await eventually('all is written', async () => (await last(1)).join() === 'last part');
    const expected = ['one', '10% 50% 100%', '0123456789abcdef'.repeat(256), 'last part'];
    for (let tail = 0; tail <= 5; tail += 1) expect(await last(tail)).toEqual(tail === 0 ? [] : expected.slice(-tail));
    const timed = (await last(3, { timestamps: true })).map((line) => line.replace(/^\S+Z /, ''));
    expect(timed).toEqual(expected.slice(-3));
  });

  test('is followed after the container is started again, and after another one replaces it', async () => {
    const deployment = await started(
      'echo run $(cat /tmp/run 2>/dev/null); echo 2 > /tmp/run; trap "exit 0" TERM; sleep 1000 & wait',
    );
    const { client, podman } = machine();
    const lines: string[] = [];
    const ending = new AbortController();
    const reading = (async () => {
      const options = { follow: true, continues: async () => true, signal: ending.signal };
      for await (const line of read(deployment, options)) lines.push(line);
    })();
    await eventually('the first run is read', () => lines.length === 1);
    await podman.byHand('restart', '--time', '0', deployment.name());
    await eventually('the second run is read', () => lines.length === 2);
    const replaced = running(await deployment.manifest({ generation: 8, restarted_at: '2026-01-01T00:00:00Z' }));
    await reconcileTo(client, { wanted: replaced, fence: deployment.fence(8), phase: 'running' });
    await eventually('the log of the other container is read', () => lines.length === 3);
    expect(lines).toEqual(['run', 'run 2', 'run']);
    ending.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
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
