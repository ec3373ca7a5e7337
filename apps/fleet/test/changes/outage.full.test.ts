import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@svc/testing';
import { anAdminToken, prepareFleetFaults } from '../faults/identity-world.ts';
import { clientOf, type SentEvent } from './client.ts';

const { aPostgres, aFleet } = prepareFleetFaults();
// The processes of PostgreSQL are found in /proc.
const onLinux = process.platform === 'linux' ? test : test.skip;

/** A client that continues its stream after its last position until `end` is called. */
function follow(port: number, secret: string) {
  const received: SentEvent[] = [];
  let isEnded = false;
  const run = async () => {
    for (let position = ''; !isEnded; await pause(50)) {
      const after = position === '' ? '' : `&after=${position}`;
      const watch = await clientOf(port)
        .watch(secret, `kinds=storage${after}`)
        .catch(() => undefined); // the process responds with 503
      for (let seen = 0; watch && !watch.answer.closed; await pause(20)) {
        received.push(...watch.received.slice(seen));
        seen = watch.received.length;
        position = watch.position;
        if (isEnded) watch.end();
      }
    }
  };
  const running = run();
  return {
    objects: () => received.flatMap(({ event, data }) => (event === 'change' && data ? [data.id] : [])),
    events: () => received.map(({ event }) => event),
    end: async () => {
      isEnded = true;
      await running;
    },
  };
}

onLinux('a client receives each change once while PostgreSQL is killed, restarted and frozen', async () => {
  const postgres = await aPostgres();
  const { url, port } = await aFleet({ databaseUrl: postgres.databaseUrl });
  const secret = await anAdminToken(postgres.databaseUrl);
  const client = follow(port, secret);
  await eventually('the stream begins', async () => client.events().length > 0);
  const acknowledged: string[] = [];
  let count = 0;
  const create = async () => {
    const response = await fetch(`${url}/api/v1/storage`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: `volume-${++count}`, size: '1Gi' }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the test fails if the body has no id
    const body = (await response.json()) as any;
    if (response.status === 201) acknowledged.push(body.storage.id);
    return response.status;
  };
  const createsAgain = () => eventually('a volume is created', async () => (await create()) === 201);
  const arrived = () =>
    eventually('all changes arrived', async () => acknowledged.every((id) => client.objects().includes(id)));

  await createsAgain();
  await postgres.kill();
  await eventually('requests are refused', async () => (await create()) === 503);
  await postgres.restart();
  await createsAgain();
  await arrived();
  postgres.freeze();
  await eventually('requests are refused', async () => (await create()) === 503);
  postgres.thaw();
  await createsAgain();
  await arrived();
  await client.end();

  expect(client.events()).not.toContain('reset');
  expect(client.objects()).toEqual([...new Set(client.objects())]);
});
