import { z } from 'zod';
import { endpoint } from '../src/index.ts';

/** The endpoints of a fictitious service. */
export const endpoints = {
  listThings: endpoint({
    operationId: 'listThings',
    method: 'get',
    path: '/api/v1/things',
    access: 'anyone',
    tag: 'things',
    summary: 'List things',
    query: z.strictObject({ search: z.string().optional(), page: z.string().optional() }),
    reply: z.object({ things: z.array(z.string()) }),
  }),
  getThing: endpoint({
    operationId: 'getThing',
    method: 'get',
    path: '/api/v1/things/:id',
    access: 'anyone',
    tag: 'things',
    summary: 'Get a thing',
    params: z.strictObject({ id: z.string() }),
    reply: z.object({ id: z.string() }),
  }),
  createThing: endpoint({
    operationId: 'createThing',
    method: 'post',
    path: '/api/v1/things',
    access: 'anyone',
    tag: 'things',
    summary: 'Create a thing',
    status: 201,
    body: z.strictObject({ name: z.string() }),
    reply: z.object({ id: z.string() }),
  }),
  removeThing: endpoint({
    operationId: 'removeThing',
    method: 'delete',
    path: '/api/v1/things/:id',
    access: 'anyone',
    tag: 'things',
    summary: 'Remove a thing',
    status: 204,
    params: z.strictObject({ id: z.string() }),
    reply: z.undefined(),
  }),
};
