import { invalid } from '@svc/http';

interface Input {
  readonly query: { readonly id?: string | undefined };
  readonly body: { readonly id?: string | undefined };
}

/**
 * The id of the resource of a PUT or DELETE, from the body or the query. @throws 400 if it is
 * missing or ambiguous
 */
export function resourceId({ query, body }: Input): string {
  const id = body.id ?? query.id;
  if (id === undefined) throw invalid([{ path: 'id', message: 'is required in the body or in the query' }]);
  if (query.id !== undefined && query.id !== id) {
    throw invalid([{ path: 'id', message: 'must be the same in the body and in the query' }]);
  }
  return id;
}
