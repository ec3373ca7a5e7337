// How soon changes outside the fleet are corrected, through events and through the checks of a
// host.
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@svc/testing';
import { describeWithEngine } from '@svc/testing/engine';
import { SHORT_TIMINGS } from '../../timings.ts';
import { type EngineProxy, startEngineProxy } from './engine-proxy.ts';
import { type MachineWorld, SLEEPER, startMachineWorld } from './world.ts';

const HOUR_MS = 3_600_000;
const LONGER_THAN_A_CHECK_MS = 1000;
const isStream = (request: string) => request.includes('/events?');

describeWithEngine('a change of a container outside the fleet', () => {
  let world: MachineWorld;
  let proxy: EngineProxy;
  let hostId: string;
  let id: string;
  let name: string;

  beforeAll(async () => {
    world = await startMachineWorld();
    proxy = await startEngineProxy(world.podman.endpoint);
    hostId = (await world.aHost({ endpoint: proxy.endpoint })).id;
    await world.hostIs(hostId, 'online');
    ({ id } = await world.deployed('web', SLEEPER, { replicas: 2 }));
    name = (await world.deploymentIs(id, 'running')).instances[0].name;
  });
  afterAll(async () => {
    await world?.stop();
    await proxy?.stop();
  });

  /** Sets when the host is checked, and when the deployment is reconciled without a change. */
  const checkAt = (check_at: Date) => world.database.client.host.update({ where: { id: hostId }, data: { check_at } });
  /**
   * Ends the checks of the host for now. A check in progress can still fail, and the host is then
   * checked until it is online again.
   */
  const withoutChecks = async () => {
    let last: Date | null | undefined;
    await eventually('the last check has ended', async () => {
      const host = await world.database.client.host.findUniqueOrThrow({ where: { id: hostId } });
      const isOver = host.reachability === 'online' && host.check_at.getTime() > Date.now() + HOUR_MS / 2;
      const isSame = host.last_seen_at?.getTime() === last?.getTime();
      last = host.last_seen_at;
      if (isOver && isSame) return true;
      if (host.reachability === 'online') await checkAt(new Date(Date.now() + HOUR_MS));
      await pause(LONGER_THAN_A_CHECK_MS);
      return false;
    });
  };
  const observedAt = async () =>
    (await world.database.client.deployment.findUniqueOrThrow({ where: { id } })).observed_at?.getTime();
  /** The time of the last pass, after every pass that earlier changes have caused. */
  const settled = () =>
    eventually('no further pass is due', async () => {
      const { due_at, lease_until } = await world.database.client.deployment.findUniqueOrThrow({ where: { id } });
      const isLater = due_at.getTime() > Date.now() + SHORT_TIMINGS.reconciler.resync / 2;
      return lease_until === null && isLater && observedAt();
    });
  const CORRECTIONS: [string, () => Promise<unknown>, () => string][] = [
    ['removed', () => world.podman.discard(name), () => `engine: created ${name} again: it was missing`],
    ['paused', () => world.podman.byHand('pause', name), () => `engine: resumed ${name}: it was paused`],
  ];
  const correctionsOf = async (text: string) => (await world.events(id)).filter((event) => event === text).length;
  const isCorrected = async (doIt: () => Promise<unknown>, text: string) => {
    const before = await correctionsOf(text);
    await doIt();
    await eventually('the change is corrected', async () => (await correctionsOf(text)) === before + 1);
    await world.deploymentIs(id, 'running');
  };

  test('a deployment that is as desired is next reconciled after the long period', async () => {
    // Its rollout ends when it has been ready for some time.
    await eventually('the next pass is late', async () => {
      const { due_at } = await world.database.client.deployment.findUniqueOrThrow({ where: { id } });
      return due_at.getTime() > Date.now() + SHORT_TIMINGS.reconciler.resyncCompared / 2;
    });
  });

  test('the events of what the fleet has done itself cause no further pass', async () => {
    await withoutChecks();
    await eventually('the host has a stream', async () => proxy.streams() === 1);
    const { id: other } = await world.deployed('other', SLEEPER, { replicas: 3 });
    await world.deploymentIs(other, 'running');
    const passes = async () =>
      (await world.database.client.deployment.findUniqueOrThrow({ where: { id: other } })).observed_at;
    const before = await passes();
    const { collect, afterChange, idle } = SHORT_TIMINGS.reconciler;
    await pause(2 * (collect + afterChange + idle));
    expect(await passes()).toEqual(before);
    await world.removed(other);
  });

  test.each(CORRECTIONS)('is corrected because of an event if it was %s', async (_, doIt, text) => {
    await withoutChecks();
    await isCorrected(doIt, text());
  });

  test('is corrected by each replica that receives the events, with one pass', async () => {
    await withoutChecks();
    const { engineRuntime } = world.aReplica({ outboundAllow: new Set(['http', 'loopback', 'unix']) }).services;
    engineRuntime.start();
    try {
      await eventually('the other replica has a stream', async () => proxy.streams() === 2);
      const [, doIt, text] = CORRECTIONS[0] as (typeof CORRECTIONS)[number];
      await isCorrected(doIt, text());
      expect(proxy.streams()).toBe(2);
    } finally {
      await engineRuntime.stop();
    }
    await eventually('the stream has ended', async () => proxy.streams() === 1);
  });

  describe('without a stream of events', () => {
    beforeAll(async () => {
      await proxy.stopListening(); // ends the stream
      proxy.setFault((request) => (isStream(request) ? 'refused' : 'passed'));
      await proxy.startListening();
      await checkAt(new Date(0));
      await world.hostIs(hostId, 'online');
      await world.deploymentIs(id, 'running');
    });

    test.each(CORRECTIONS)('is corrected after the next check if it was %s', async (_, doIt, text) => {
      await settled(); // a pass that fails requests a check
      await withoutChecks();
      const before = await settled();
      await isCorrected(async () => {
        await doIt();
        await pause(2 * SHORT_TIMINGS.reconciler.idle);
        expect(await observedAt()).toBe(before);
        await checkAt(new Date(0));
      }, text());
    });

    test('a check changes nothing if there was no change', async () => {
      await world.deploymentIs(id, 'running');
      const before = await settled();
      await world.good(world.api.post(`/api/v1/hosts/${hostId}/check`));
      await pause(2 * SHORT_TIMINGS.reconciler.idle);
      expect(await observedAt()).toBe(before);
    });
  });

  test('is corrected because of an event again after the engine has restarted', async () => {
    await proxy.stopListening();
    const [removed, paused] = CORRECTIONS as [(typeof CORRECTIONS)[number], (typeof CORRECTIONS)[number]];
    await isCorrected(async () => {
      await paused[1](); // while no event arrives
      proxy.setFault(() => 'passed');
      await proxy.startListening(); // a pass can correct it before the check
      await checkAt(new Date(0));
    }, paused[2]());
    await eventually('the host has a stream', async () => proxy.streams() === 1);
    await withoutChecks();
    await isCorrected(removed[1], removed[2]());
  });
});
