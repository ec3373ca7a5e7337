import {
  keepPreviousData,
  MutationCache,
  QueryClient,
  type UseMutationOptions,
  type UseQueryOptions,
} from '@tanstack/react-query';
import {
  type CallArguments,
  type CallInput,
  type Client,
  type Endpoints,
  type Failure,
  type Output,
  Refused,
  TimedOut,
} from './client.ts';
import { onReturn } from './connection.ts';

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: Failure;
    mutationMeta: { readonly tags: readonly string[] };
  }
}

type QueryKey = readonly [tag: string, name: string, input: unknown];

/** A client whose reads are cached and shared. A change invalidates the reads with the same tag. */
export interface Api<T extends Endpoints> extends Client<T> {
  readonly queries: QueryClient;
  /** The options of `useQuery` for an endpoint. */
  read<K extends keyof T & string>(
    name: K,
    ...input: CallArguments<T[K]>
  ): UseQueryOptions<Output<T[K]>, Failure, Output<T[K]>, QueryKey> & { readonly queryKey: QueryKey };
  /**
   * The options of `useMutation` for an endpoint. `alsoTags` are other reads that the change
   * affects.
   */
  change<K extends keyof T & string>(
    name: K,
    ...alsoTags: readonly string[]
  ): UseMutationOptions<Output<T[K]>, Failure, CallInput<T[K]>>;
}

const MAX_ATTEMPTS = 3;
/** After this time, a read that has failed for a temporary reason is repeated while a page shows it. */
const REPEAT_MS = 5000;

export function createApi<T extends Endpoints>(client: Client<T>): Api<T> {
  const queries: QueryClient = new QueryClient({
    defaultOptions: {
      // A request without a network fails. By default, the library would wait for the network.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: 2000,
        retry: (failures, error) => isTemporary(error) && failures < MAX_ATTEMPTS,
        refetchInterval: ({ state: { error } }) => error !== null && isTemporary(error) && REPEAT_MS,
        retryDelay: (failures, error) =>
          (error instanceof Refused && error.retryAfter !== undefined ? error.retryAfter : 0.5 * 2 ** failures) * 1000,
      },
    },
    mutationCache: new MutationCache({
      onSuccess: (_data, _variables, _onMutateResult, mutation) => {
        for (const tag of mutation.meta?.tags ?? []) void queries.invalidateQueries({ queryKey: [tag] });
      },
    }),
  });
  onReturn(() => void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' }));
  return {
    ...client,
    queries,
    read: (name, ...[input]) => ({
      queryKey: [client.tagOf(name), name, input ?? null] as const,
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        // The input is complete; only the signal is added.
        client.call(name, ...([{ ...input, signal }] as unknown as CallArguments<T[typeof name]>)),
      // The previous page stays visible until the next one is there.
      // The type of the library does not accept its own function.
      placeholderData: keepPreviousData as never,
    }),
    change: (name, ...alsoTags) => ({
      meta: { tags: [client.tagOf(name), ...alsoTags] },
      // A complete input is a valid argument list.
      mutationFn: (input) => client.call(name, ...([input] as unknown as CallArguments<T[typeof name]>)),
    }),
  };
}

/**
 * Whether the same request can succeed soon. After its time limit, the user decides whether to
 * wait again.
 */
const isTemporary = (error: Failure): boolean =>
  error instanceof Refused ? error.status === 503 || error.status === 429 : !(error instanceof TimedOut);
