/** Returned instead of a reply: redirects the browser. */
export class Redirect {
  readonly location: string;
  readonly cookies: readonly string[];
  /** `cookies` are values of `Set-Cookie`. */
  constructor(location: string, cookies: readonly string[] = []) {
    this.location = location;
    this.cookies = cookies;
  }
}
