import type { Endpoint } from '@svc/contract';
import type { GivenInput, Performed } from '@svc/http';
import type { z } from 'zod';
import type { McpCaller, OperationRequest } from './caller.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * The input of an operation. Members that are undefined are left out; values of the query are
 * converted to text.
 */
interface Asked extends Omit<OperationRequest, keyof GivenInput> {
  readonly params?: Values;
  readonly query?: Values;
  readonly body?: Values;
}

/** Performs operations for a caller. A tool has no other access to its service. */
export interface Ask {
  <E extends Endpoint>(endpoint: E, asked?: Asked): Promise<z.output<E['reply']>>;
  /** The chunks of an operation with a streamed response. */
  stream(endpoint: Endpoint, asked: Asked): Promise<AsyncIterable<string | Buffer>>;
}

export function createAsk(caller: McpCaller): Ask {
  const perform = (endpoint: Endpoint, { params = {}, query = {}, body = {}, ...others }: Asked): Promise<Performed> =>
    caller.perform(endpoint, {
      ...others,
      params: withoutUndefined(params),
      query: asText(query),
      body: withoutUndefined(body),
    });
  const ask = async <E extends Endpoint>(endpoint: E, asked: Asked = {}) =>
    (await perform(endpoint, asked)).reply as z.output<E['reply']>; // parsed by this schema
  return Object.assign(ask, {
    stream: async (endpoint: Endpoint, asked: Asked) => {
      const { stream } = await perform(endpoint, asked);
      if (!stream) throw new Error(`${endpoint.operationId} has no streamed response`);
      const { chunks } = stream;
      return typeof chunks === 'function' ? chunks(caller.signal) : chunks;
    },
  });
}

const withoutUndefined = (values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const asText = (query: Values) =>
  Object.fromEntries(Object.entries(withoutUndefined(query)).map(([name, value]) => [name, String(value)]));
