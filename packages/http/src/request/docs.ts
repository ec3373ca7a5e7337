import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Express } from 'express';
import { z } from 'zod';
import { jsonResponse, type PendingResponse, respond } from '../response/respond.ts';
import { refuseOtherMethods } from './routes.ts';

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>API reference</title><link rel="stylesheet" href="/docs/swagger-ui.css"></head>
<body><div id="reference"></div><script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script></body>
</html>
`;

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#reference', validatorUrl: null });\n`;

/**
 * Only resources of this origin are allowed. Swagger UI needs inline styles, and data: URLs for its
 * icons.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

/** An OpenAPI document, which states the version of the service. */
export type OpenApiDocument = z.infer<typeof openApiFile>;

const openApiFile = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ version: z.string() }),
});

/** Reads an OpenAPI document from a file. The order of its members remains. */
export function readOpenApi(file: URL): OpenApiDocument {
  const document: unknown = JSON.parse(readFileSync(file, 'utf8'));
  openApiFile.parse(document);
  return document as OpenApiDocument; // just validated
}

/**
 * Mounts `/openapi.json`, and at `/docs` a reference page that loads no resources from other
 * origins.
 */
export function mountDocs(app: Express, openapi: object): void {
  const pages: Record<string, PendingResponse> = {
    '/openapi.json': jsonResponse(200, openapi),
    '/docs': {
      status: 200,
      headers: { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': POLICY },
      body: PAGE,
    },
    '/docs/start.js': asset('text/javascript', START),
    '/docs/swagger-ui.css': asset('text/css', readAsset('swagger-ui.css')),
    '/docs/swagger-ui-bundle.js': asset('text/javascript', readAsset('swagger-ui-bundle.js')),
  };
  for (const [address, response] of Object.entries(pages)) {
    app.get(address, (_req, res) => respond(res, response));
    refuseOtherMethods(app, address, ['GET']);
  }
}

const asset = (type: string, body: string | Buffer): PendingResponse => ({
  status: 200,
  headers: { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'public, max-age=3600' },
  body,
});

const folder = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const assets = new Map<string, Buffer>();

/** Reads each file once per process. */
function readAsset(file: string): Buffer {
  const content = assets.get(file) ?? readFileSync(path.join(folder, file));
  assets.set(file, content);
  return content;
}
