import { eventually, LONG_TEST_MS } from '@svc/testing';
import { aTemplate } from '../a-template.ts';
import { aPlainTemplate } from '../deployments/templates/advised.ts';
import { startKills, stepsOf } from '../reconciler/rollouts/kills.ts';

const world = await startKills([stepsOf('update_run_items', 'NEW.state <> OLD.state')]);
const { query, made, hub, send, sent } = world;
afterAll(world.stop);

const NAMES = ['one', 'two', 'three', 'four', 'five'];
const updates = { ready_seconds: 0, deadline_seconds: 600 };
const template = aPlainTemplate();

async function publish(changes: Partial<typeof template> = {}) {
  hub.publish({ ...template, ...changes }, aTemplate({ slug: 'other' }));
  await sent('POST', 'catalog/sync', {});
}

test(
  'an update run continues if the process that begins or ends an update is killed, and updates each deployment once',
  async () => {
    await publish();
    for (const name of NAMES) await made('deployments', { name, template: 'tool', updates });
    const open = `SELECT name, phase, rollout FROM deployments WHERE phase <> 'running' OR rollout->>'state' IS DISTINCT FROM 'succeeded'`;
    await eventually('all deployments run', () => query(open), { until: ({ length }) => length === 0 });
    await publish({ revision: 2, version: '1.1.0', image_tag: '19' });

    const kills = await world.whileKilled(
      async () => {
        await eventually('the run is stored', async () => {
          if ((await query('SELECT FROM update_runs')).length > 0) return true;
          await send('POST', 'update-runs', { template: 'tool', wave: 2 });
          return false;
        });
        const left = `SELECT r.state, i.state AS of_item, i.message FROM update_runs r JOIN update_run_items i ON i.run_id = r.id
          WHERE r.state = 'running'`;
        await eventually('the run has ended', () => query(left), {
          until: ({ length }) => length === 0,
          withinMs: 200_000,
        });
      },
      { atRequests: false },
    );
    // Each update begins in a transaction of its own, and ends in one that can end others too.
    expect(kills).toBeGreaterThanOrEqual(NAMES.length);
    const runs = await query(
      `SELECT r.state, i.state AS of_item, i.generation FROM update_runs r JOIN update_run_items i ON i.run_id = r.id`,
    );
    expect(runs).toEqual(NAMES.map(() => ({ state: 'completed', of_item: 'succeeded', generation: 2 })));
    const changes = await query(
      `SELECT d.name, array_agg(v.operation ORDER BY v.generation) AS operations, d.revision,
         (SELECT count(*)::int FROM audit_entries a WHERE a.path = '/api/v1/deployments/' || d.id || '/upgrade') AS entries
       FROM deployments d JOIN deployment_revisions v ON v.deployment_id = d.id GROUP BY d.id ORDER BY d.created_at`,
    );
    expect(changes).toEqual(
      NAMES.map((name) => ({ name, operations: ['create', 'upgrade'], revision: 2, entries: 1 })),
    );
    expect(await query('SELECT what FROM fire_wrong')).toEqual([]);
  },
  LONG_TEST_MS,
);
