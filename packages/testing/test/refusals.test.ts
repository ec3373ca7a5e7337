import { endpoint } from '@svc/contract';
import { z } from 'zod';
import { cellsOf, type Expected } from '../src/api/refusals.ts';

const at = (path: string, access: string) =>
  endpoint({
    operationId: path.slice(1),
    method: 'get',
    path,
    access,
    tag: 'things',
    summary: 'Read things',
    reply: z.object({}),
  });
const row: Record<'nobody' | 'guest' | 'admin', Expected> = {
  nobody: 'unauthenticated',
  guest: 'insufficient_scope',
  admin: 'admitted',
};
const matrix = {
  endpoints: [at('/a', 'read'), at('/b', 'read'), at('/c', 'write'), at('/d', 'write')],
  expected: { read: { ...row, guest: 'admitted' as const }, write: row },
  everywhere: ['nobody'] as const,
};
const pairsOf = (isComplete: boolean) =>
  cellsOf(matrix, isComplete).map(({ endpoint: { path }, caller }) => `${path} ${caller}`);

test('a complete matrix has a cell for each caller and endpoint', () => {
  expect(pairsOf(true)).toHaveLength(12);
  expect(new Set(pairsOf(true)).size).toBe(12);
});

test('a short matrix has all callers for one endpoint of each kind of access, and some callers for all endpoints', () => {
  const allCallers = ['/a', '/c'].flatMap((path) => [`${path} nobody`, `${path} guest`, `${path} admin`]);
  expect(pairsOf(false).sort()).toEqual([...allCallers, '/b nobody', '/d nobody'].sort());
});

test('a cell has the verdict of its kind of access', () => {
  const verdicts = cellsOf(matrix, true).filter(({ caller }) => caller === 'guest');
  expect(verdicts.map(({ verdict }) => verdict)).toEqual([
    'admitted',
    'admitted',
    'insufficient_scope',
    'insufficient_scope',
  ]);
});
