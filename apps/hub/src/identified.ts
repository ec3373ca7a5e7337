import { invalid } from '@svc/http';

interface Given {
  readonly query: { readonly id?: string | undefined };
  readonly body: { readonly id?: string | undefined };
}

/** The id of what a PUT or DELETE is about, from the body or the query. @throws 400 when it is in neither, or they differ. */
export function identified({ query, body }: Given): string {
  const id = body.id ?? query.id;
  if (id === undefined) throw invalid([{ path: 'id', message: 'is required, in the body or the query' }]);
  if (query.id !== undefined && query.id !== id) {
    throw invalid([{ path: 'id', message: 'differs between the body and the query' }]);
  }
  return id;
}
