import { documentedMetrics, reportedMetrics } from '@svc/testing';
import { startWorld } from './world.ts';

const world = await startWorld();
afterAll(() => world.stop());

test('each metric is documented with its type and labels, and each documented metric exists', async () => {
  await world.anonymous.get('/api/v1/catalog/templates');
  await world.anonymous.get('/api/v1/catalog/templates');
  const { text } = await world.anonymous.get('/metrics');
  const documented = documentedMetrics('hub');
  const reported = reportedMetrics(text);
  expect(Object.keys(reported).sort()).toEqual(Object.keys(documented).sort());
  for (const [name, { type, labels }] of Object.entries(reported)) {
    expect({ name, type }).toEqual({ name, type: documented[name]?.type });
    if (labels.length > 0) expect({ name, labels }).toEqual({ name, labels: documented[name]?.labels });
  }
  expect(text).toMatch(/^catalog_cache_reads_total\{cache="pages",result="miss"\} [1-9]/m);
});
