import type { McpCaller } from './caller.ts';

/** One HTTP request. */
export interface Exchange {
  readonly caller: McpCaller;
  /** The calls that have started. The response ends after them, so that each one is recorded. */
  readonly running: Set<Promise<unknown>>;
}

const MEMBER = 'exchange';

/** The SDK passes on the result of an authentication to its handlers. It carries the exchange. */
export const carry = (exchange: Exchange) => ({
  authInfo: { token: '', clientId: '', scopes: [], extra: { [MEMBER]: exchange } },
});

/** The exchange to which a handler belongs. */
export function exchangeOf(authInfo: { readonly extra?: Record<string, unknown> } | undefined): Exchange {
  const exchange = authInfo?.extra?.[MEMBER];
  if (!exchange) throw new Error('the request did not come through mountMcp');
  return exchange as Exchange; // only `carry` sets it
}
