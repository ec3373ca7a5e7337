// How many statements a plan of an application sends.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { startApplicationWorld } from './world.ts';

/** The statements of all connections that are opened from now on. */
let count = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...given: Parameters<typeof query>) {
  count += 1;
  return query.apply(this, given);
} as typeof query;

// Imported now, because a connection copies the function above when it is opened.
const world: { startApplicationWorld: typeof startApplicationWorld } = await import('./world.ts');
const fleet = await world.startApplicationWorld();

async function statementsOf(work: () => Promise<{ readonly body: { readonly ok: boolean } }>): Promise<number> {
  await work(); // what is in memory afterwards is read once
  count = 0;
  expect((await work()).body.ok).toBe(true);
  return count;
}

test('a plan of 16 parts sends at most 8 times the statements of a plan of one deployment', async () => {
  await fleet.aMeshHost();
  const ports = [{ containerPort: 80, publish: true }];
  const parts = Array.from({ length: 16 }, (_, index) => ({
    name: `part-${index}`,
    image_name: 'team/app',
    ports,
    needs: index === 0 ? [] : [{ part: 'part-0' }],
    env: [
      { name: 'PASSWORD', value: `\${generated.password}` },
      ...(index === 1 ? [{ name: 'ADDRESS', value: `\${parts.part-0.address.80}` }] : []),
    ],
  }));
  const deployment = () =>
    fleet.plan({ name: `n-${randomUUID()}`, spec: { image_name: 'team/app', ports: [{ containerPort: 80 }] } });
  const one = await statementsOf(deployment);
  const all = await statementsOf(() => fleet.planApplication({ spec: { generated: [{ name: 'password' }], parts } }));
  expect({ one, all, ratio: all / one <= 8 }).toEqual({ one, all, ratio: true });
});
