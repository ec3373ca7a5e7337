import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { endpoint, openApiDocument } from '../src/index.ts';

test('a streamed response is documented with its media type and the schema of one line', () => {
  const followThings = endpoint({
    operationId: 'followThings',
    method: 'get',
    path: '/things/follow',
    access: 'anyone',
    tag: 'things',
    summary: 'Follow things',
    reply: z.object({ id: z.string() }),
    stream: 'application/x-ndjson',
  });
  const { paths } = openApiDocument({
    title: 'Things',
    description: '',
    endpoints: { followThings },
    open: ['anyone'],
    problems: [],
    tags: { things: 'Things' },
  });
  const responses = paths?.['/things/follow']?.get?.responses;
  expect(responses?.['200']).toMatchObject({
    description: expect.stringContaining('lines'),
    content: { 'application/x-ndjson': { schema: expect.objectContaining({ required: ['id'] }) } },
  });
  expect(responses).not.toHaveProperty('304');
  expect(responses?.['503']).toMatchObject({ content: { 'application/problem+json': {} } });
});
