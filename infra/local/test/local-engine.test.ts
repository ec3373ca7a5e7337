import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { describeWithEngine, startEngine } from '@svc/testing/engine';
import { findLocalEngine } from '../src/local-engine.ts';
import { aProduct, freePorts } from './product.ts';

test('where nothing answers as an engine there is none', async () => {
  expect(await findLocalEngine(['/nowhere/engine.sock', import.meta.filename])).toBeUndefined();
});

describeWithEngine('with an engine on this machine', () => {
  test('the fleet has it as the host local, and says so; started again it is there still', async () => {
    const podman = await startEngine();
    const parent = fs.mkdtempSync(path.join(tmpdir(), 'engine-'));
    fs.chmodSync(parent, 0o711); // started by root, PostgreSQL is another user that must get through
    try {
      const ports = await freePorts();
      for (const start of ['first', 'second']) {
        const product = await aProduct(path.join(parent, '.data'), ports, podman.endpoint);
        expect([start, product.lines.find((line) => line.startsWith('host '))]).toEqual([
          start,
          `host               local: Podman at ${podman.endpoint}`,
        ]);
        expect(await reachabilityOf(product.demo)).toBe('online');
        product.kill('SIGTERM');
        expect((await product.end()).left).toEqual([]);
      }
    } finally {
      await podman.stop();
      fs.rmSync(parent, { recursive: true });
    }
  }, 120_000);
});

/** Of the host `local`, once it was asked. */
async function reachabilityOf({ FLEET_URL, FLEET_VIEWER_TOKEN }: Record<string, string>): Promise<string | undefined> {
  for (let left = 100; left > 0; left -= 1) {
    const headers = { Authorization: `Bearer ${FLEET_VIEWER_TOKEN}` };
    const answer = await fetch(`${FLEET_URL}/api/v1/hosts?search=local`, { headers });
    const { hosts } = (await answer.json()) as { hosts: { reachability: string }[] }; // as the contract has it
    if (hosts[0]?.reachability !== 'unknown') return hosts[0]?.reachability;
    await pause(100);
  }
  return undefined;
}
