import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Express, Request, RequestHandler } from 'express';
import { etagOfBody, hasEtagOf } from '../response/etag.ts';
import { type PendingResponse, respond } from '../response/respond.ts';
import { refuseOtherMethods } from './routes.ts';

/** The content types of the files that a build of the console contains. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The name of an asset contains a digest of its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * Scripts, styles and connections only from this origin, and the scripts in the page. No text becomes HTML or a script.
 */
const policyOf = (page: string) =>
  [
    "default-src 'none'",
    ["script-src 'self'", ...scriptsIn(page).map((script) => `'sha256-${sha256(script)}'`)].join(' '),
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

/** The contents of the script elements of a page that have no attribute. */
const scriptsIn = (page: string) =>
  page
    .split('<script>')
    .slice(1)
    .map((rest) => rest.split('</script>', 1)[0] ?? '');

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');

/**
 * Mounts the hashed files of a console. Reads all files once, so that a missing build prevents the
 * start.
 */
export function mountConsoleAssets(app: Express, folder: string): void {
  for (const name of readdirSync(path.join(folder, 'assets'))) {
    const contentType = CONTENT_TYPES[path.extname(name)];
    if (contentType === undefined) continue; // the compressed variants
    const file = readVariants(path.join(folder, 'assets', name));
    const headers = { 'Content-Type': contentType, 'Cache-Control': IMMUTABLE };
    const address = `/assets/${name}`;
    app.get(address, (req, res) => respond(res, fileResponse(file, headers, req)));
    refuseOtherMethods(app, address, ['GET']);
  }
}

/** Paths at which a missing resource is a problem document also for a browser. */
const NOT_PAGES = /^\/(?:\.well-known|api|docs|assets|mcp|healthz|readyz|metrics|openapi\.json)(?:\/|$)/;

/**
 * Responds with the page of a console to a browser that requests a page at a path without a route.
 * The script of the page reads the path. Mount it after all routes.
 */
export function consolePage(folder: string): RequestHandler {
  const page = readVariants(path.join(folder, 'index.html'));
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': policyOf(page.plain.toString()),
  };
  return (req, res, next) => {
    const isPage = (req.method === 'GET' || req.method === 'HEAD') && acceptsHtml(req) && !NOT_PAGES.test(req.path);
    if (isPage) return respond(res, fileResponse(page, headers, req));
    next();
  };
}

/** Whether a browser requests a page. */
export const acceptsHtml = ({ headers: { accept = '' } }: Request) => /\btext\/html\b/.test(accept);

const encodings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
] as const;

/** A file and the variants that the build compressed. */
interface Variants {
  readonly etag: string;
  readonly plain: Buffer;
  readonly compressed: Readonly<Partial<Record<(typeof encodings)[number]['name'], Buffer>>>;
}

function readVariants(file: string): Variants {
  const plain = readFileSync(file);
  const compressed = Object.fromEntries(
    encodings.flatMap(({ name, extension }) => {
      const content = readIfExists(`${file}${extension}`);
      return content ? [[name, content]] : [];
    }),
  );
  return { etag: etagOfBody(plain).slice(1, -1), plain, compressed };
}

function readIfExists(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined; // the build omits a variant that is not smaller
  }
}

function fileResponse(file: Variants, headers: Readonly<Record<string, string>>, req: Request): PendingResponse {
  const encoding = encodings.find(({ name }) => file.compressed[name] && accepts(req, name))?.name;
  const etag = `"${file.etag}${encoding ? `-${encoding}` : ''}"`;
  const all = {
    ...headers,
    ETag: etag,
    Vary: 'Accept-Encoding',
    'Cross-Origin-Resource-Policy': 'same-origin',
    ...(encoding && { 'Content-Encoding': encoding }),
  };
  if (hasEtagOf(req)(etag)) return { status: 304, headers: all };
  return { status: 200, headers: all, body: (encoding && file.compressed[encoding]) ?? file.plain };
}

/**
 * Whether the request names the encoding with a weight other than zero (RFC 9110, section 12.5.3).
 */
const accepts = ({ headers }: Request, encoding: string) =>
  String(headers['accept-encoding'] ?? '')
    .split(',')
    .some((given) => {
      const [name = '', weight = ''] = given
        .toLowerCase()
        .split(';')
        .map((part) => part.trim());
      return name === encoding && !/^q=0(?:\.0*)?$/.test(weight);
    });

/**
 * The folder with the build of a console in the package of the consoles. `from` is the URL of a
 * module that depends on the package.
 */
export const consoleFolderOf = (service: 'hub' | 'fleet', from: string): string =>
  path.join(path.dirname(createRequire(from).resolve('@svc/console/package.json')), 'dist', service);
