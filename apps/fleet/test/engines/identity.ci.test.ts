import { afterEach, expect, test } from '@jest/globals';
import { describeWithEngine } from '@svc/testing/engine';
import { check } from '../../src/engines/docker/check.ts';
import { readIdentity } from '../../src/engines/docker/identity.ts';
import { clientOf, endAll } from './servers.ts';
import { aMachine } from './world.ts';

describeWithEngine('the identity of a real engine', () => {
  const machine = aMachine();
  afterEach(endAll);

  test('is the same for all replicas of the fleet that read it for the first time concurrently', async () => {
    const { podman } = machine();
    const clients = [1, 2, 3, 4].map(() =>
      clientOf(podman.endpoint, { engine: podman.kind }, { answer: 15_000, change: 15_000 }),
    );
    if (podman.kind === 'podman') expect(await readIdentity(machine().client, { store: false })).toBeNull();
    const identities = await Promise.all(clients.map((client) => readIdentity(client, { store: true })));
    expect(new Set(identities).size).toBe(1);
    expect(identities[0]).toMatch(/^[\w:.-]+$/);
    expect((await check(machine().client)).identity).toBe(identities[0]);
  });
});
