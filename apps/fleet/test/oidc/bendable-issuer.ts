import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { onLoopback } from '@svc/testing';
import { aSigner, type Members } from './signer.ts';

export const DISCOVERY = '/.well-known/openid-configuration';
export const CLIENT = 'fleet';

export interface IssuerRequest {
  readonly path: string;
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

/** The response of a path. 'silence' never ends. */
export type Responder = (requests: IssuerRequest) => Reply | 'silence' | Promise<Reply | 'silence'>;

export type BendableIssuer = Awaited<ReturnType<typeof startBendableIssuer>>;

/**
 * An issuer on loopback that conforms to OpenID Connect, except where a test overrides a response.
 */
export async function startBendableIssuer() {
  let signer = await aSigner('first');
  let bent = new Map<string, Responder>();
  const requests: IssuerRequest[] = [];

  const server = await onLoopback(async (req, res) => {
    const visit = await read(req);
    requests.push(visit);
    const reply = await (bent.get(visit.path) ?? straight(visit.path))(visit);
    if (reply === 'silence') return;
    const body = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {});
    res.writeHead(reply.status ?? 200, { 'Content-Type': 'application/json', ...reply.headers }).end(body);
  });
  const { url } = server;

  const metadata: Members = {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/keys`,
    userinfo_endpoint: `${url}/userinfo`,
    introspection_endpoint: `${url}/introspect`,
    scopes_supported: ['openid', 'email', 'profile', 'offline_access'],
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
  };
  const issuer = {
    url,
    metadata,
    /** All requests that it has received. */
    requests,
    countOf: (path: string) => requests.filter((visit) => visit.path === path).length,
    lastAt: (path: string) => requests.findLast((visit) => visit.path === path),
    /** The nonce of the current sign-in. */
    nonce: '',
    signer: () => signer,
    /** A valid ID token with the given changes. A member that is undefined is omitted. */
    idToken: (claims: Members = {}, header: Members = {}): Promise<string> =>
      signer.sign({ iss: url, aud: CLIENT, sub: 'ada', nonce: issuer.nonce, name: 'Ada', ...claims }, header),
    /** A valid response of the token endpoint with the given changes. */
    tokens: async (changed: Members = {}): Promise<Reply> => ({
      body: {
        access_token: 'opaque-access-token',
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: 'refresh-1',
        id_token: await issuer.idToken(),
        ...changed,
      },
    }),
    bend: (path: string, answering: Responder) => bent.set(path, answering),
    bendMetadata: (changed: Members) => bent.set(DISCOVERY, () => ({ body: { ...metadata, ...changed } })),
    straighten: () => {
      bent = new Map();
    },
    /** Signs with a new key from now on, and publishes only that key. */
    rotate: async () => {
      signer = await aSigner(`${signer.kid}-next`);
    },
    stopListening: server.stopListening,
    startListening: server.startListening,
    stop: server.stopListening,
  };
  const straight = (path: string): Responder => {
    const answers: Record<string, Responder> = {
      [DISCOVERY]: () => ({ body: metadata }),
      '/keys': () => ({ body: { keys: [signer.publicKey] } }),
      '/token': () => issuer.tokens(),
      '/userinfo': () => ({ body: { sub: 'ada' } }),
      '/introspect': () => ({ body: { active: false } }),
    };
    return answers[path] ?? (() => ({ status: 404 }));
  };
  return issuer;
}

async function read(req: IncomingMessage): Promise<IssuerRequest> {
  const { pathname: path } = new URL(req.url ?? '/', 'http://any');
  return { path, form: new URLSearchParams(await text(req)), authorization: req.headers.authorization };
}

export type { Members };
