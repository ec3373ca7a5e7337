import type { Request, Response } from 'express';
import helmet from 'helmet';

const setHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginResourcePolicy: { policy: 'same-site' },
  strictTransportSecurity: false, // the responsibility of the proxy that terminates TLS
});

/**
 * The security headers of every response. They do not depend on the request. A response can have
 * another value with the same name.
 */
export const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = readHeaders();

function readHeaders() {
  const headers: [name: string, value: string][] = [];
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  // Helmet uses only these members, synchronously.
  setHeaders({} as Request, response as unknown as Response, () => undefined);
  return headers;
}
