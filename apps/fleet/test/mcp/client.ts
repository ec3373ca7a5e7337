import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** A result of a tool, as tests read it. */
export interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the members that they use
  readonly structuredContent?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly _meta?: any;
}

interface Message {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly error?: any;
}

interface Sent {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The members of a request of revision 2026-07-28 that replace a session. */
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};

const JSON_HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

/** Sends single messages to the endpoint of a service, as a client of revision 2026-07-28. */
export function messagesTo(url: string) {
  const send = async (body: string, { token, headers = {}, signal }: Sent = {}) => {
    const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      body,
      headers: { ...JSON_HEADERS, ...authorization, ...headers },
      ...(signal ? { signal } : {}),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const request = async (method: string, params: object, { headers = {}, ...sent }: Sent = {}) => {
    const {
      name,
      uri,
      _meta = {},
    } = params as { readonly name?: string; readonly uri?: string; readonly _meta?: object };
    const named = name ?? uri;
    const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...META, ..._meta } } };
    const response = await send(JSON.stringify(message), {
      ...sent,
      headers: {
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': method,
        ...(named === undefined ? {} : { 'Mcp-Name': named }),
        ...headers,
      },
    });
    return { ...response, message: messageOf(response.text) };
  };
  return {
    send,
    request,
    /** Calls a tool. @throws if the response is not a result */
    call: async (name: string, given: object, sent: Sent = {}): Promise<ToolResult> => {
      const { status, text, message } = await request('tools/call', { name, arguments: given }, sent);
      if (message.result === undefined) throw new Error(`${name} answered ${status}: ${text}`);
      return message.result;
    },
  };
}

/** The last message of a body of JSON or of events. */
function messageOf(text: string): Message {
  const events = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
  try {
    return JSON.parse(events.at(-1) ?? text);
  } catch {
    return {};
  }
}

/** A client of the SDK that is connected with a token. */
export async function connect(url: string, token: string, options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' }, ...options });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

/** The code with which a tool rejected a call; undefined if it did not. */
export const codeOf = ({ isError, content }: ToolResult): string | undefined =>
  isError ? /^[a-z_]+/.exec(content[0]?.text ?? '')?.[0] : undefined;
