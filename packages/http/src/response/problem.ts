import {
  type FieldError,
  fieldCodeOf,
  limitFieldErrors,
  MAX_FIELD_ERRORS,
  type ProblemCode,
  type ProblemDocument,
  problems,
} from '@svc/contract';

/** The path of a page that shows a problem, from the id of the request. */
type Page = (requestId: string) => string;

export interface ProblemOptions {
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log. Responses do not contain it. */
  readonly cause?: unknown;
  /**
   * Where a browser shows the problem: a request that accepts HTML is redirected instead of
   * receiving the document.
   */
  readonly page?: Page | undefined;
}

/**
 * An error response. A handler throws it, and the caller receives a problem document (RFC 9457)
 * with `detail`.
 */
export class Problem extends Error {
  override name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: ProblemOptions['errors'];
  readonly headers: Readonly<Record<string, string>>;
  readonly page: Page | undefined;

  constructor(code: ProblemCode, detail: string = problems[code].title, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.page = options.page;
  }

  get status(): number {
    return problems[this.code].status;
  }

  /** This problem, for a browser that shows it at a page. */
  shownAt(page: Page): Problem {
    const { code, message, errors, headers, cause } = this;
    return new Problem(code, message, { ...(errors && { errors }), headers, cause, page });
  }

  document(requestId: string): ProblemDocument {
    return {
      type: 'about:blank',
      title: problems[this.code].title,
      status: this.status,
      detail: this.message,
      code: this.code,
      request_id: requestId,
      ...(this.errors ? { errors: this.errors.map(withCode) } : {}),
    };
  }
}

/** A field error with the code of its message, if the message has one. */
function withCode({ path, message }: FieldError) {
  const code = fieldCodeOf(message);
  return code === undefined ? { path, message } : { path, message, code };
}

/** The problem for objects that do not exist and for objects that are not visible to the caller. */
export const notFound = () => new Problem('not_found', 'Not found, or not visible to you.');

const ERRORS_IN_DETAIL = 3;

/** 400 with a field error for each problem, at most 100. The detail states the first three. */
export function invalid(errors: readonly FieldError[]): Problem {
  const listed = limitFieldErrors(errors);
  const first = listed
    .slice(0, ERRORS_IN_DETAIL)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const atLeast = listed.length === MAX_FIELD_ERRORS ? 'at least ' : '';
  const more = listed.length > first.length ? `; and ${atLeast}${listed.length - first.length} more` : '';
  return new Problem('validation_failed', `${first.join('; ')}${more}`, { errors: listed });
}

/** An error as a problem. An unexpected one is 500, without its text. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Error && 'status' in error && error.status === 400) {
    return new Problem('invalid_request', 'The path must be percent-encoded UTF-8.', { cause: error });
  }
  return new Problem('internal', 'Internal error. The log contains the details for the request id.', { cause: error });
}
