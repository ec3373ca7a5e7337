/**
 * A reply in JSON whose bytes exist already, with its entity tag. The schema of the reply is not applied to it again: whoever
 * renders it has validated its content.
 */
export class Rendered {
  readonly body: Buffer;
  readonly etag: string;
  constructor(body: Buffer, etag: string) {
    this.body = body;
    this.etag = etag;
  }
}
