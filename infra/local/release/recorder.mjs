import { once } from 'node:events';
import { createServer, request } from 'node:http';

/** The recorded headers. Receivers use no others. */
const RECORDED = new Set([
  'accept',
  'api-version',
  'cache-control',
  'content-type',
  'date',
  'etag',
  'if-none-match',
  'libpod-api-version',
  'retry-after',
  'server',
  'vary',
]);

/**
 * A proxy that records each exchange: method, path, headers and body of the request; status, headers and body of the
 * response. JSON bodies are recorded as values. Streamed responses are recorded when they end.
 *
 * @param target the URL of a server, or `{ socketPath }`
 */
export async function startRecorder(target) {
  const exchanges = [];
  const to = typeof target === 'string' ? { host: new URL(target).hostname, port: new URL(target).port } : target;
  const server = createServer(async (req, res) => {
    const body = await read(req);
    const onward = request({ ...to, method: req.method, path: req.url, headers: req.headers, agent: false });
    res.on('close', () => onward.destroy());
    onward.on('error', () => res.destroy());
    onward.on('response', async (response) => {
      res.writeHead(response.statusCode, response.headers);
      const parts = [];
      response.on('data', (part) => {
        parts.push(part);
        res.write(part);
      });
      response.on('error', () => res.destroy());
      response.on('end', () => {
        res.end();
        exchanges.push({
          request: { method: req.method, path: req.url, headers: headersOf(req), body: bodyOf(body) },
          response: {
            status: response.statusCode,
            headers: headersOf(response),
            body: bodyOf(Buffer.concat(parts)),
          },
        });
      });
    });
    onward.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    exchanges,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function read(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

const headersOf = ({ headers }) => Object.fromEntries(Object.entries(headers).filter(([name]) => RECORDED.has(name)));

function bodyOf(body) {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
