/** Instead of a reply: the browser goes elsewhere. */
export class Redirect {
  readonly location: string;
  readonly headers: Readonly<Record<string, string>>;
  constructor(location: string, headers: Readonly<Record<string, string>> = {}) {
    this.location = location;
    this.headers = headers;
  }
}
