import type {
  AppsV1Api,
  AuthorizationV1Api,
  BatchV1Api,
  CoreV1Api,
  HttpMethod,
  StorageV1Api,
  VersionApi,
} from '@kubernetes/client-node';

/** The parts of the typed API that are used. */
export interface Apis {
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly batch: BatchV1Api;
  readonly storage: StorageV1Api;
  readonly authorization: AuthorizationV1Api;
  readonly version: VersionApi;
}

/** A request as the typed API makes it. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: URL;
  readonly body?: string;
}

export interface ApiAnswer {
  readonly status: number;
  /** JSON. */
  readonly text: string;
}

/**
 * The typed API of a server, over `send`: nothing else is called, and nothing is read from this machine. The library is
 * loaded at the first use: it takes half a second and 60 MB, which a fleet without clusters need not have.
 */
export async function apisOver(server: string, send: (request: ApiRequest) => Promise<ApiAnswer>): Promise<Apis> {
  const library = await import('@kubernetes/client-node');
  const httpApi = library.wrapHttpLibrary({
    send: async (request) => {
      const body = request.getBody();
      const method = methodOf(request.getHttpMethod());
      const url = new URL(request.getUrl());
      const { status, text } = await send({ method, url, ...(typeof body === 'string' && { body }) });
      return new library.ResponseContext(status, { 'content-type': 'application/json' }, bodyOf(text));
    },
  });
  const baseServer = new library.ServerConfiguration(server, {});
  const configuration = library.createConfiguration({ baseServer, httpApi });
  return {
    core: new library.CoreV1Api(configuration),
    apps: new library.AppsV1Api(configuration),
    batch: new library.BatchV1Api(configuration),
    storage: new library.StorageV1Api(configuration),
    authorization: new library.AuthorizationV1Api(configuration),
    version: new library.VersionApi(configuration),
  };
}

function methodOf(method: HttpMethod): ApiRequest['method'] {
  if (method === 'GET' || method === 'POST' || method === 'PUT' || method === 'PATCH') return method;
  if (method === 'DELETE') return method;
  throw new Error(`nothing of ours sends ${method}`);
}

const bodyOf = (text: string) => ({ text: async () => text, binary: async () => Buffer.from(text) });
