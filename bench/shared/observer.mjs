// Imported into a server that a bench measures. On request of the bench, it reports what the server
// has received and sent so far, and profiles its CPU. The load generators do not report all of it:
// wrk opens a connection again without an error, and counts redirects as successful.
import { subscribe } from 'node:diagnostics_channel';
import { Session } from 'node:inspector/promises';
import { isMainThread } from 'node:worker_threads';

let connections = 0;
/** The number of responses of each status. */
const statuses = {};
let session;

const answers = {
  counts: () => ({ connections, statuses }),
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
  subscribe('net.server.socket', () => {
    connections += 1;
  });
  subscribe('http.server.response.finish', ({ response: { statusCode } }) => {
    statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
  });
  process.on('message', async (name) => process.send((await answers[name]()) ?? null));
  process.channel.unref(); // otherwise the listener would keep the process alive
}
