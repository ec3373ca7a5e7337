import { request } from 'node:https';

/** A client of an API server with the credentials of a user. @returns status and body of the response */
export const callerOf =
  ({ server, ca, token }) =>
  (method, path, body, type = 'application/json') =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      // Set explicitly, because Node does not set the content length of a DELETE.
      const contentHeaders = text && { 'content-type': type, 'content-length': Buffer.byteLength(text) };
      const headers = { authorization: `Bearer ${token}`, ...contentHeaders };
      const pending = request(`${server}${path}`, { method, headers, ca, timeout: 10_000 }, async (response) => {
        try {
          const content = Buffer.concat(await response.toArray()).toString('utf8');
          const isJson = response.headers['content-type']?.startsWith('application/json');
          resolve({ status: response.statusCode, body: isJson ? JSON.parse(content) : content });
        } catch (error) {
          reject(error);
        }
      });
      pending.on('timeout', () => pending.destroy(new Error('timeout of the API server')));
      pending.on('error', reject);
      pending.end(text);
    });
