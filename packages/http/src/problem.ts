import { type ProblemCode, type ProblemDocument, problems } from '@svc/contract';

export interface ProblemOptions {
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log. Responses do not contain it. */
  readonly cause?: unknown;
}

/** An error response. A handler throws it, and the caller receives a problem document (RFC 9457) with `detail`. */
export class Problem extends Error {
  override name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: ProblemOptions['errors'];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string = problems[code].title, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return problems[this.code].status;
  }

  document(requestId: string): ProblemDocument {
    return {
      type: 'about:blank',
      title: problems[this.code].title,
      status: this.status,
      detail: this.message,
      code: this.code,
      request_id: requestId,
      ...(this.errors ? { errors: [...this.errors] } : {}),
    };
  }
}

/** The problem for objects that do not exist and for objects that are not visible to the caller. */
export const notFound = () => new Problem('not_found', 'Not found, or not visible to you.');
