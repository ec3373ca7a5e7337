import { base64url } from './base64url.ts';

const KEY = 'console-key';

/**
 * The key of the console in this browser. Requests state it, and a session is valid only with the key
 * with which it was opened. So a page on another port, which shares the cookies of the host but not
 * this storage, cannot make the console use its session. The key alone is of no use. Without storage,
 * there is none.
 */
export const consoleKey = read();

function read(): string | undefined {
  try {
    const key = localStorage.getItem(KEY) ?? base64url(crypto.getRandomValues(new Uint8Array(32)));
    localStorage.setItem(KEY, key);
    return localStorage.getItem(KEY) ?? undefined; // another tab may have stored one
  } catch {
    return undefined;
  }
}
