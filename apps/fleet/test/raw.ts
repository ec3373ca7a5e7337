import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import { createHttpServer } from '@svc/http';
import { eventually } from '@svc/testing';
import type { Express } from 'express';

/** A fleet on a port, for requests that no HTTP client library would send. */
export async function listen(app: Express) {
  const server = createHttpServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const open = async (text: string) => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    /**
     * Sends exactly this text, and reads until the fleet closes the connection. @returns the status
     * of the response
     */
    send: async (text: string): Promise<number> => {
      const socket = await open(text);
      let answer = '';
      for await (const chunk of socket) answer += chunk;
      return Number(answer.split(' ')[1]);
    },
    /** Sends exactly this text, and leaves the connection to the caller. */
    open,
    /** Resolves when the fleet has no open connection. */
    deserted: async () => {
      const connections = promisify(server.getConnections.bind(server));
      await eventually('the fleet has no connection', connections, { until: (count) => count === 0 });
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A request as text of HTTP/1.1. */
export function requestText(
  line: string,
  { headers = [], body = '' }: { readonly headers?: readonly string[]; readonly body?: string } = {},
): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const all = ['Host: fleet.test', 'Connection: close', ...headers, ...length];
  return `${line} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}
