// The client of the benches. It keeps its connections open, and accepts no compressed responses.
import http from 'node:http';

const TIMEOUT_MS = 30_000;
/** Counts connections. */
class Connections extends http.Agent {
  #opened = 0;
  #open = 0;
  #mostOpen = 0;

  createConnection(...args) {
    this.#opened += 1;
    this.#open += 1;
    this.#mostOpen = Math.max(this.#mostOpen, this.#open);
    return super.createConnection(...args).once('close', () => {
      this.#open -= 1;
    });
  }

  /** The number of connections that replaced a closed one. An idle one may be closed. */
  get reconnects() {
    return this.#opened - this.#mostOpen;
  }
}

/**
 * A client of a server. It opens connections as it needs them, and uses all of them in turn.
 * @param connections their maximum number
 * @param localAddress the address of the client, for example of `127.0.0.0/8`
 */
export function createClient({ url, connections = 1, localAddress }) {
  const { hostname, port } = new URL(url);
  const agent = new Connections({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' });
  return {
    /** The number of connections so far that replaced a closed one. */
    reconnects: () => agent.reconnects,
    /**
     * Sends a request. A body that is not a string is sent as JSON. The body of an `unread`
     * response is not read, so that it never ends.
     * @returns the status, the raw headers, the body as a buffer and the latency in milliseconds
     * @throws if the connection fails, if the response takes longer than 30 seconds, or if its
     * content length is not that of its body
     */
    send: ({ method = 'GET', path, key, headers = {}, body, unread = false }) =>
      new Promise((resolve, reject) => {
        const started = performance.now();
        const sent = typeof body === 'object' ? JSON.stringify(body) : body;
        const request = http.request({
          hostname,
          port,
          agent,
          localAddress,
          method,
          path,
          timeout: TIMEOUT_MS,
          headers: {
            'accept-encoding': 'identity',
            ...(key !== undefined && { authorization: `Bearer ${key}` }),
            ...(typeof body === 'object' && { 'content-type': 'application/json' }),
            ...(sent !== undefined && { 'content-length': Buffer.byteLength(sent) }),
            ...headers,
          },
        });
        request.on('response', (response) => {
          if (unread) return;
          const chunks = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const received = Buffer.concat(chunks);
            const announced = response.headers['content-length'];
            if (announced !== undefined && Number(announced) !== received.length && method !== 'HEAD') {
              reject(new Error(`${path}: ${received.length} bytes instead of the announced ${announced}`));
            }
            resolve({
              status: response.statusCode,
              rawHeaders: response.rawHeaders,
              body: received,
              latency: performance.now() - started,
            });
          });
        });
        request.on('timeout', () => request.destroy(new Error(`${path}: no response in ${TIMEOUT_MS} ms`)));
        request.on('error', reject);
        request.end(sent);
      }),
    /** Closes the connections. @throws if one of them replaced a closed one */
    end: () => {
      agent.destroy();
      if (agent.reconnects > 0) throw new Error(`${agent.reconnects} reconnects to ${url}`);
    },
    /** Closes the connections. */
    close: () => agent.destroy(),
  };
}

/** Sends one request. @returns as `send`. @throws also if the status is not 2xx */
export async function sendOnce(url, request) {
  const client = createClient({ url });
  try {
    const response = await client.send(request);
    if (response.status >= 300) {
      const { method = 'GET', path } = request;
      throw new Error(`${method} ${path}: ${response.status} ${response.body.subarray(0, 300)}`);
    }
    return response;
  } finally {
    client.close();
  }
}

/**
 * Sends each request once, on a number of connections.
 * @returns the status and the latency in milliseconds of each response, in the order of the
 * requests
 * @throws if a request fails, or if a connection is opened again
 */
export async function sendEach({ url, requests, connections }) {
  const client = createClient({ url, connections });
  const results = [];
  const waiting = requests.entries();
  const send = async () => {
    for (const [index, request] of waiting) {
      const { status, latency } = await client.send(request);
      results[index] = { status, latency };
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, send));
  } catch (error) {
    client.close();
    throw error;
  }
  client.end();
  return results;
}
