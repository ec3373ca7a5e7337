import { onLoopback } from './loopback.ts';

/** A span, as a collector receives it in the JSON of OTLP. */
export interface ExportedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined or empty: the span is the first one of its trace. */
  readonly parentSpanId?: string;
  readonly attributes: Readonly<Record<string, string | number>>;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ExportedSpan, 'attributes'> & { attributes: Attribute[] })[];
    }[];
  }[];
}

const attributesOf = (list: readonly Attribute[]) =>
  Object.fromEntries(list.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));

/** A collector of OTLP over HTTP. While it hangs, it reads requests and does not answer. */
export async function aCollector({ hangs = false }: { readonly hangs?: boolean } = {}) {
  const bodies: Buffer[] = [];
  const types = new Set<string | undefined>();
  const server = await onLoopback(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    bodies.push(Buffer.concat(chunks));
    types.add(req.headers['content-type']);
    if (!hangs) res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  return {
    url: server.url,
    stop: server.stopListening,
    /** The bodies of all requests. */
    bodies,
    types,
    /** All spans, from bodies in JSON. */
    spans: (): ExportedSpan[] =>
      bodies.flatMap((body) =>
        // The exporter is the official one, and a body of another form fails the test.
        (JSON.parse(body.toString('utf8')) as Body).resourceSpans.flatMap(({ resource, scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) =>
            spans.map((span) => ({
              ...span,
              service: String(attributesOf(resource.attributes)['service.name']),
              attributes: attributesOf(span.attributes),
            })),
          ),
        ),
      ),
  };
}
