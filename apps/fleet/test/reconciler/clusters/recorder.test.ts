import { expect, test } from '@jest/globals';
import { KEYS } from '../../../src/render/labels.ts';
import { startApiServer } from '../../engines/kubernetes/api-server.ts';
import { wrongIn } from './recorder.ts';

test('the recorder finds two objects for one deployment and a generation that decreases', async () => {
  const server = await startApiServer();
  const anObject = (name: string, deployment: string, generation: number) => ({
    metadata: {
      name,
      labels: { [KEYS.deployment]: deployment },
      annotations: { [KEYS.generation]: String(generation) },
    },
    spec: { replicas: 0, template: { metadata: {}, spec: { containers: [] } } },
  });
  server.put('deployments', anObject('first', 'x', 1));
  server.put('deployments', anObject('first', 'x', 2));
  server.drop('deployments', 'first');
  server.put('deployments', anObject('first', 'x', 1)); // a new object with the same name
  server.put('deployments', anObject('other', 'y', 3));
  expect(wrongIn(server.store.changes)).toEqual([]);
  server.put('deployments', anObject('other', 'y', 2));
  server.put('deployments', anObject('second', 'x', 1));
  expect([...new Set(wrongIn(server.store.changes))]).toEqual([
    'deployments of y: generation 2 over 3',
    'two deployments of x',
  ]);
  await server.stop();
});
