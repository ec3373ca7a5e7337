import type { Endpoint } from '@svc/contract';
import { type GivenInput, type Performed, Problem } from '@svc/http';
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

/**
 * Asks for the newest rows of a list: `limit` of them, or as many as can be read at once.
 * @throws 413 if one of them is too large
 */
export async function askForNewest<E extends Endpoint>(
  ask: Ask,
  list: E,
  { params, limit }: { readonly params: Values; readonly limit: number },
): Promise<z.output<E['reply']>> {
  try {
    return await ask(list, { params, query: { limit } });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'payload_too_large' || limit === 1) throw error;
    return askForNewest(ask, list, { params, limit: Math.floor(limit / 2) });
  }
}

const withoutUndefined = (values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const asText = (query: Values) =>
  Object.fromEntries(Object.entries(withoutUndefined(query)).map(([name, value]) => [name, String(value)]));
