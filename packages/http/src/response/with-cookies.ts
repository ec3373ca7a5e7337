/** A reply that sets or deletes cookies. */
export class WithCookies<R> {
  readonly reply: R;
  /** Values of `Set-Cookie`. */
  readonly cookies: readonly string[];
  /** Whether the browser deletes the responses that it has stored, because the user signed out. */
  readonly clearsCache: boolean;
  constructor(reply: R, cookies: readonly string[], { clearsCache = false } = {}) {
    this.reply = reply;
    this.cookies = cookies;
    this.clearsCache = clearsCache;
  }
}
