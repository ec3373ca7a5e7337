/** Returned instead of a reply: redirects the browser. */
export class Redirect {
  readonly location: string;
  readonly headers: Readonly<Record<string, string>>;
  constructor(location: string, headers: Readonly<Record<string, string>> = {}) {
    this.location = location;
    this.headers = headers;
  }
}
