// The Docker Engine API of a simulated host: the requests that a fleet sends, and the stream of
// events.
import { Refused } from './engine-host.mjs';

const MAX_BODY = 2 ** 21;

/** `status` defaults to 200, `body` is sent as JSON. A `stream` writes the response itself. */
const ROUTES = [
  ['GET', '/version', ({ host }) => ({ body: host.version() })],
  ['GET', '/info', ({ host }) => ({ body: host.info() })],
  ['GET', '/containers/json', ({ host, query }) => ({ body: host.containers(query) })],
  [
    'POST',
    '/containers/create',
    ({ host, query, body }) => ({ status: 201, body: host.createContainer(query.name, body) }),
  ],
  ['GET', '/containers/*/json', ({ host, id }) => ({ body: host.container(id) })],
  [
    'GET',
    '/containers/*/logs',
    ({ host, id, query }) => ({ stream: (response) => sendLog(host, id, { query, response }) }),
  ],
  ['PUT', '/containers/*/archive', ({ host, id }) => ({ body: host.container(id) && undefined })],
  ['POST', '/containers/*/start', ({ host, id }) => ({ status: host.startContainer(id) ? 204 : 304 })],
  ['POST', '/containers/*/stop', ({ host, id }) => ({ status: host.stopContainer(id) ? 204 : 304 })],
  ['POST', '/containers/*/kill', ({ host, id }) => ({ status: 204, body: host.killContainer(id) })],
  ['POST', '/containers/*/pause', ({ host, id }) => ({ status: 204, body: host.pauseContainer(id, true) })],
  ['POST', '/containers/*/unpause', ({ host, id }) => ({ status: 204, body: host.pauseContainer(id, false) })],
  ['DELETE', '/containers/*', ({ host, id, query }) => ({ status: 204, body: host.removeContainer(id, query.force) })],
  ['GET', '/volumes', ({ host, query }) => ({ body: { Volumes: host.volumes(query), Warnings: [] } })],
  ['POST', '/volumes/create', ({ host, body }) => ({ status: 201, body: host.createVolume(body) })],
  ['GET', '/volumes/*', ({ host, id }) => ({ body: host.volume(id) })],
  ['DELETE', '/volumes/*', ({ host, id }) => ({ status: 204, body: host.removeVolume(id) })],
  ['GET', '/networks', ({ host, query }) => ({ body: host.networks(query) })],
  ['POST', '/networks/create', ({ host, body }) => ({ status: 201, body: host.createNetwork(body) })],
  ['GET', '/networks/*', ({ host, id }) => ({ body: host.network(id) })],
  ['POST', '/networks/*/connect', ({ host, id, body }) => ({ body: host.connectNetwork(id, body) })],
  ['DELETE', '/networks/*', ({ host, id }) => ({ status: 204, body: host.removeNetwork(id) })],
  ['GET', '/images/json', ({ host }) => ({ body: host.images() })],
  ['POST', '/images/create', ({ host, query }) => ({ stream: (response) => sendPull(host, query, response) })],
  ['GET', '/images/*/json', ({ host, id }) => ({ body: host.image(id) })],
  ['GET', '/distribution/*/json', ({ host, id }) => ({ body: host.distribution(id) })],
  [
    'GET',
    '/events',
    ({ host, query }) => ({ stream: (response, defer) => sendEvents(host, query, { response, defer }) }),
  ],
].map(([method, path, handle]) => ({
  kind: `${method} ${path}`,
  pattern: new RegExp(`^${method} (?:/v\\d+\\.\\d+)?${path.replace('*', '(.+)')}$`),
  handle,
}));

const PING = /^(?:GET|HEAD) (?:\/v\d+\.\d+)?\/_ping$/;

/**
 * Reads a request to a host.
 * @returns `kind`, the method and path with `*` for names, `labels`, those of the object that the
 * request names or selects, and `answer(response, defer)`. Streams write through `defer`, which
 * delays the writes of a host that hangs
 */
export async function readCall(host, request) {
  const { pathname, searchParams } = new URL(request.url, 'http://engine');
  const target = `${request.method} ${pathname}`;
  const body = await readBody(request);
  if (PING.test(target)) return { kind: 'GET /_ping', labels: {}, answer: sendPing };
  const route = ROUTES.find(({ pattern }) => pattern.test(target));
  if (!route) return { kind: 'unknown', labels: {}, answer: (response) => sendError(response, 404, 'page not found') };
  const query = Object.fromEntries(searchParams);
  if (query.filters) query.filters = filtersIn(query.filters);
  const id = decodeURIComponent(route.pattern.exec(target)[1] ?? '');
  const answer = (response, defer) => {
    try {
      const { status = 200, body: answered, stream } = route.handle({ host, id, query, body });
      if (stream) stream(response, defer);
      else send(response, status, answered);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      sendError(response, error.status, error.message);
    }
  };
  return { kind: route.kind, labels: labelsOf({ host, id, query, body, target }), answer };
}

async function readBody(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BODY) throw new Error('the body of a request is too large');
    chunks.push(chunk);
  }
  // An archive is received, and not read.
  return length === 0 || request.headers['content-type'] === 'application/x-tar'
    ? {}
    : JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** Filters are lists, or in an older form objects whose members are the values. */
const filtersIn = (text) =>
  Object.fromEntries(
    Object.entries(JSON.parse(text)).map(([name, values]) => [
      name,
      Array.isArray(values) ? values : Object.keys(values),
    ]),
  );

function labelsOf({ host, id, query, body, target }) {
  if (body.Labels) return body.Labels;
  if (query.filters?.label) return Object.fromEntries(query.filters.label.map((label) => label.split('=', 2)));
  if (!/ (?:\/v\d+\.\d+)?\/containers\//.test(target) || id === '') return {};
  try {
    return host.container(id).Config.Labels;
  } catch {
    return {}; // it does not exist
  }
}

function send(response, status, body) {
  if (body === undefined) return response.writeHead(status).end();
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

const sendError = (response, status, message) => send(response, status, { message });

const sendPing = (response) =>
  response.writeHead(200, { 'api-version': '1.47', 'content-type': 'text/plain' }).end('OK');

function sendPull(host, { fromImage, tag }, response) {
  const name = tag ? `${fromImage}:${tag}` : fromImage;
  if (name.endsWith(':missing')) return sendError(response, 404, `manifest for ${name} not found: manifest unknown`);
  host.pullImage(name);
  const line = (status) => `${JSON.stringify({ status })}\n`;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`${line(`Pulling from ${name}`)}${line(`Status: Downloaded newer image for ${name}`)}`);
}

/**
 * A container writes a few lines when it starts. A log that is followed ends with the container.
 */
function sendLog(host, id, { query, response }) {
  const { Id, Name, State } = host.container(id);
  response.writeHead(200, { 'content-type': 'application/vnd.docker.multiplexed-stream' });
  if (State.StartedAt > '0002') response.write(frameOf(logOf(Name.slice(1))));
  if (!['1', 'true'].includes(query.follow) || !State.Running) return response.end();
  const end = host.watch({ filters: { container: [Id], event: ['die'] } }, () => response.end());
  response.once('close', end);
}

const logOf = (name) =>
  [
    `${name} has started`,
    'level=info msg="configuration loaded" source=environment',
    'level=info msg="listening" address=0.0.0.0 workers=4',
    'level=warn msg="no limit for idle connections is set, 600 seconds are used"',
    'level=info msg="ready" duration=41ms',
    '',
  ].join('\n');

const STDOUT = 1;
function frameOf(text) {
  const payload = Buffer.from(text);
  const header = Buffer.alloc(8);
  header[0] = STDOUT;
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

function sendEvents(host, { since, until, filters }, { response, defer }) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const end = host.watch({ since, filters }, (event) => defer(() => response.write(`${JSON.stringify(event)}\n`)));
  response.once('close', end);
  if (until === undefined) return;
  const timer = setTimeout(() => response.end(), Math.max(0, Number(until) * 1000 - Date.now()));
  response.once('close', () => clearTimeout(timer));
}
