// Imported into a server that a bench measures. On request of the bench, it reports what the server
// has received and sent so far, and profiles its CPU. wrk does not report all of it: it opens a
// connection again without an error, counts redirects as successful, and ignores requests that
// receive no complete response.
import { subscribe } from 'node:diagnostics_channel';
import { Session } from 'node:inspector/promises';
import { isMainThread } from 'node:worker_threads';

/** A connection of wrk has a request at all times. One without a new request for longer has stalled. */
const STALLED_MS = 1000;
const lastRequest = Symbol('the time of the last request of a connection');

let connections = 0;
let open = 0;
let stalled = 0;
/** The number of responses of each status. */
const statuses = {};
let session;

const answers = {
  counts: () => ({ connections, open, stalled, statuses }),
  startProfile: async () => {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
  },
  stopProfile: async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    return profile;
  },
};

if (isMainThread) {
  subscribe('net.server.socket', ({ socket }) => {
    connections += 1;
    open += 1;
    socket[lastRequest] = performance.now();
    socket.once('close', () => {
      open -= 1;
      if (performance.now() - socket[lastRequest] > STALLED_MS) stalled += 1;
    });
  });
  subscribe('http.server.request.start', ({ socket }) => {
    socket[lastRequest] = performance.now();
  });
  subscribe('http.server.response.finish', ({ response: { statusCode } }) => {
    statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
  });
  process.on('message', async (name) => process.send((await answers[name]()) ?? null));
  process.channel.unref(); // otherwise the listener would keep the process alive
}
