import { type ProblemCode, type ProblemDocument, problems } from '@svc/contract';

export interface ProblemOptions {
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log; a caller never sees it. */
  readonly cause?: unknown;
}

/** A refusal: thrown anywhere in a request, answered as a problem document (RFC 9457). `detail` is for the caller to read. */
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

/** What absent, invisible and somebody else's have in common: the same answer. */
export const notFound = () => new Problem('not_found', 'There is nothing here that you can see.');
