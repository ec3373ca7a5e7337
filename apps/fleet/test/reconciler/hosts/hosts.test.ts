import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createSealer } from '@svc/database';
import type { Host } from '../../../src/generated/prisma/client.ts';
import { createHostClients } from '../../../src/reconciler/engine-clients.ts';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const sealer = createSealer([{ kid: 'test', key: randomBytes(32) }]);
const aHost = () =>
  ({ id: randomUUID(), engine: 'docker', endpoint: 'unix:///x', sealed: null, by_admin: true }) as Host;
const advance = (minutes: number) => jest.setSystemTime(Date.now() + minutes * 60_000);

test('the client of a host is reused while it is in use and the host does not change', async () => {
  const clients = createHostClients({ sealer, allowed: new Set() });
  const one = aHost();
  const another = aHost();
  const first = await clients.of(one);
  for (let times = 0; times < 5; times += 1) {
    advance(5);
    await clients.of(another);
    expect(await clients.of(one)).toBe(first);
  }
  expect(await clients.of({ ...one, endpoint: 'unix:///y' })).not.toBe(first);
  await clients.close();
});

test('the client of a host is closed when it is idle', async () => {
  const clients = createHostClients({ sealer, allowed: new Set() });
  const deleted = await clients.of(aHost());
  const close = jest.spyOn(deleted, 'close');
  const present = aHost();
  advance(9);
  await clients.of(present);
  expect(close).not.toHaveBeenCalled();
  advance(2);
  await clients.of(present);
  expect(close).toHaveBeenCalledTimes(1);
  await clients.close();
  expect(close).toHaveBeenCalledTimes(1);
});
