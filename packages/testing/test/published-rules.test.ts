import { describe, expect, test } from '@jest/globals';
import { type Endpoint, fleetService, hubService, openApiDocument, parseFields } from '@svc/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { z } from 'zod';
import { fromSchema, type Schema } from '../src/hostile/schema-values.ts';
import { byDepth } from '../src/index.ts';
import { assertProperty } from '../src/run/properties.ts';

/** Number of values per parameter and member. */
const VALUES = byDepth({ short: 20, full: 300, long: 3000 });

/**
 * Messages of rules that JSON Schema cannot express. The document accepts values that these rules
 * reject; it never rejects a value that the service accepts.
 */
const NOT_EXPRESSIBLE: readonly RegExp[] = [
  // The service counts UTF-16 code units; JSON Schema counts code points.
  /^must have at most \d+ characters$/,
  /^must have at most \d+ different words$/,
  /Unicode normalization form NFKC$/,
  /^must be an .*URL/, // the syntax of a URL
  /^must be an ISO 8601 timestamp/, // days that do not exist
  /^must be a duration .*, or an ISO 8601 timestamp/, // the same, or a duration
  /^must be an IPv4 or IPv6 address/, // the syntax of an IPv6 address
  /^must be an address of one interface/, // ranges of addresses
  /^must have a port from 1 to 65535$/,
  /^must have a path in which each % begins an encoded character/, // UTF-8
  /^must be comma-separated labels/,
  /^must be at least 4Mi; /, // an amount with a unit
  /^must not have the unit [mun], /, // of memory and storage, which have the pattern of other quantities
  /^must not contain invisible characters/, // properties of Unicode characters
  /^must not contain a user or a password$/, // parts of a URL
  /^must not contain an id twice$/, // entries with the same id that differ in other members
  /^must have either cluster_id or host_id$/,
  /^must have at most \d+ KiB(?: together)?, which is \d+ bytes in UTF-8$/, // bytes, and those of several entries
  /^must have ports up to 65535, the lower one first$/, // two numbers
  /^must not be less than the minimum$/, // two members
  /^must not be below the first revision$/, // two members
  /^is required, because the template is blocked$/, // two members
  /^must be the slug of another template$/, // two members
  /^must contain only placeholders such as /, // the syntax of placeholders
  /^must not contain the placeholder /, // two members
  /^must be used in the text as /, // two members
  /, as the type of the input requires$/, // two members
  /^must be unique, and /, // names and ports of applications, and what parts need
  /^must be the name of another part/, // parts that exist
  /^must be started or ready, because /, // two parts
  /^must not be \S+, which another part is or was$/, // two parts
  /^must not be localhost$/,
  /^must not wait for each other: /, // several parts
  /^must not contain placeholders, because /, // two members
  /^must contain at most \d+ different placeholders/, // the syntax of placeholders
  /^must have at most \d+ bytes together /, // several members
  /^is only for a part of the kind job$/, // two members
  /^is required, because the type of the input /, // two members
  /^must be empty unless the type is choice$/, // two members
  /^must not repeat a value$/, // entries that are equal
  /, as the type of the input requires$/, // two members
  /^declares the variable of /, // several members of a part, and the following four
  /^must not contain the registry: /,
  /^must not be less than the requested /,
  /^is already the path of another mount$/,
  /^must not be 0, because the security profile /,
  /^must not be given, because the input is secret/, // two members
  /^must contain import with prune$/, // entries that depend on each other
  /cursor of the last response$/, // cursors are opaque
  /^must be `start`, or the unchanged cursor of an entry$/,
];

interface Described {
  readonly name: string;
  readonly published: Schema;
  readonly rule: z.ZodType;
  /** Converts a value of the published type to what the service receives. */
  readonly sent: (value: unknown) => unknown;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly $ref: string };
}

interface RequestBody {
  /** A file has another media type. */
  readonly content: { readonly 'application/json'?: { readonly schema: Schema } };
}

const shapeOf = (schema: z.ZodType): Readonly<Record<string, z.ZodType>> =>
  schema instanceof z.ZodObject ? schema.shape : {};

describe.each([
  ['hub', hubService],
  ['fleet', fleetService],
])('in the OpenAPI document of the %s', (_, service) => {
  // The document as JSON, with the members that this test reads.
  const { paths, components } = JSON.parse(JSON.stringify(openApiDocument(service))) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: {
      readonly schemas: Readonly<Record<string, Schema>>;
      readonly requestBodies: Readonly<Record<string, RequestBody>>;
    };
  };
  // A format is an annotation in JSON Schema 2020-12; only patterns reject values.
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ components }, 'openapi');
  const validatorOf = (schema: Schema) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"openapi#/components/')));

  const resolved = (schema: Schema): Schema =>
    schema.$ref === undefined ? schema : resolved(components.schemas[schema.$ref.replace(/^.*\//, '')] ?? {});

  /** The parameters and members of an endpoint that the document describes. */
  function* describedBy(endpoint: Endpoint): Generator<Described> {
    const operation = paths[endpoint.path.replace(/:(\w+)/g, '{$1}')]?.[endpoint.method];
    const parameters = { path: shapeOf(endpoint.params), query: shapeOf(endpoint.query) };
    for (const { name, in: place, schema } of operation?.parameters ?? []) {
      const rule = place === 'path' || place === 'query' ? parameters[place][name] : undefined;
      if (rule) yield { name, published: schema, rule, sent: String };
    }
    const [, bodyName = ''] = /(\w+)$/.exec(operation?.requestBody?.$ref ?? '') ?? [];
    const body = components.requestBodies[bodyName]?.content['application/json']?.schema;
    for (const [name, published] of Object.entries(body ? (resolved(body).properties ?? {}) : {})) {
      const rule = shapeOf(endpoint.body)[name];
      if (rule) yield { name, published, rule, sent: (value) => value };
    }
  }

  test.each(Object.values(service.endpoints))(
    'the patterns and bounds for the input of $operationId match the rules of the service',
    (endpoint) => {
      for (const { name, published, rule, sent } of describedBy(endpoint)) {
        const validate = validatorOf(published);
        const values = fromSchema(published, components.schemas).chain(similar);
        const property = fc.property(values, (value) => {
          // The service refuses it before it reads the schema.
          fc.pre(!shown(value).includes('__proto__'));
          const isPublished = validate(value);
          const read = parseFields(rule, sent(value));
          if (read.success) {
            if (!isPublished) throw new Error(`${name}: the service accepts ${shown(value)}, the document does not`);
            return;
          }
          const expressible = read.errors.filter(({ message }) => !NOT_EXPRESSIBLE.some((one) => one.test(message)));
          if (isPublished && expressible.length === read.errors.length) {
            throw new Error(
              `${name}: the document accepts ${shown(value)}, the service does not: ${shown(read.errors)}. State the rule as a regular expression without flags (\`.regex\`), or as metadata (\`.meta\`)`,
            );
          }
        });
        assertProperty(property, VALUES);
      }
    },
  );

  test('the protocol of a port can be TCP, which is its default', () => {
    const bodies = Object.values(components.requestBodies).flatMap(
      ({ content }) => content['application/json']?.schema ?? [],
    );
    const [ports] = bodies.flatMap(({ properties }) => properties?.ports ?? []);
    const isPublished = validatorOf(ports ?? {});
    for (const protocol of ['TCP', 'tcp', 'Udp']) expect(isPublished([{ containerPort: 80, protocol }])).toBe(true);
    expect(isPublished([{ containerPort: 80, protocol: 'icmp' }])).toBe(false);
  });
});

const shown = (value: unknown) => JSON.stringify(value);

/** A value, or the value with one of its texts changed a little. */
function similar(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value === 'string') return similarText(value);
  if (Array.isArray(value) && value.length > 0) {
    return similar(value[0]).map((first) => [first, ...value.slice(1)]);
  }
  if (typeof value !== 'object' || value === null) return fc.constant(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return fc.constant(value);
  return fc.nat(entries.length - 1).chain((index) => {
    const [key, member] = entries[index] ?? ['', undefined];
    return similar(member).map((changed) => ({ ...value, [key]: changed }));
  });
}

const UNITS = [
  '\n',
  '\r',
  '\t',
  ' ',
  '\u0000',
  '\u0007',
  '\u007f',
  '\u00a0',
  '😀',
  'K',
  'ſ',
  'é',
  ',',
  ':',
  '"',
  '/',
  '@',
];

const similarText = (text: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant(text),
    fc.constant(text.toUpperCase()),
    fc.constant(text.toLowerCase()),
    fc
      .tuple(fc.nat(text.length), fc.constantFrom(...UNITS))
      .map(([at, unit]) => text.slice(0, at) + unit + text.slice(at)),
  );
