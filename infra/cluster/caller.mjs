import { request } from 'node:https';

/** Calls an API server as somebody. @returns status and body of the answer */
export const callerOf =
  ({ server, ca, token }) =>
  (method, where, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      // Said for DELETE, too, of which Node does not say it by itself.
      const described = text && { 'content-type': type, 'content-length': Buffer.byteLength(text) };
      const headers = { authorization: `Bearer ${token}`, ...described };
      const sent = request(`${server}${where}`, { method, headers, ca, timeout: 10_000 }, async (answer) => {
        try {
          const said = Buffer.concat(await answer.toArray()).toString('utf8');
          const isJson = answer.headers['content-type']?.startsWith('application/json');
          resolve({ status: answer.statusCode, body: isJson ? JSON.parse(said) : said });
        } catch (error) {
          reject(error);
        }
      });
      sent.on('timeout', () => sent.destroy(new Error('it did not answer in time')));
      sent.on('error', reject);
      sent.end(text);
    });
