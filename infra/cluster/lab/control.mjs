import { createServer } from 'node:http';

const ACTIONS = ['start', 'stop', 'kill', 'pause', 'resume'];

/**
 * Serves `POST /<program>/<action>` and `POST /<node>/<action>` on a Unix socket, so that tests can cause failures. Programs of a node have
 * the name `<node>/<program>`. `act(name, action)` performs an action, and returns false if nothing has this name.
 */
export function serveControl(socket, act) {
  const server = createServer(async (request, response) => {
    const answer = (status, message) => response.writeHead(status).end(`${message}\n`);
    const [, name, action] = /^\/([a-z0-9/-]+)\/([a-z]+)$/.exec(request.url) ?? [];
    if (request.method !== 'POST' || !ACTIONS.includes(action)) {
      return answer(404, `The requests are POST /<name>/<action>, with the actions ${ACTIONS.join(', ')}.`);
    }
    try {
      if ((await act(name, action)) === false) answer(404, `Nothing has the name ${name}.`);
      else answer(200, 'done');
    } catch (error) {
      answer(409, error.message);
    }
  });
  server.listen(socket);
}
