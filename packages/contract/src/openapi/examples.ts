import { objectsIn, type Schema, schemaAt } from '../shared/openapi-schema.ts';

/** Texts of examples. The first one that a schema accepts is used. */
const TEXTS: readonly string[] = [
  'example',
  '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10',
  '2026-01-02T03:04:05.678Z',
  'https://example.com',
  'ada@example.com',
  '/data',
  '1',
  'tcp',
  'tcp://engine.example.com:2376',
  'nvidia.com/gpu',
  'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
];

const FORMATS: Readonly<Record<string, string>> = {
  uuid: '0198c7a2-5f3e-7d21-9c3b-2f6f0e4b8a10',
  'date-time': '2026-01-02T03:04:05.678Z',
};

interface Document {
  components?: { schemas?: object; requestBodies?: object };
  paths?: object;
}

/** Adds an example to each request body, and to each schema of a component. */
export function addExamples(document: Document): void {
  for (const schema of Object.values<Schema>({ ...document.components?.schemas })) {
    if (schema.type === 'object') Object.assign(schema, { examples: [exampleOf(schema, document)] });
  }
  for (const content of contentIn(document.components?.requestBodies)) {
    // A media type object.
    if ('schema' in content) content.example = exampleOf(content.schema as Schema, document);
  }
}

/** The media type objects in a part of a document. A schema can have a member `content`, too, whose values are no objects. */
const contentIn = (part: unknown) =>
  [...objectsIn(part)]
    .flatMap(({ content }) => (content ? [...Object.values(content)] : []))
    .filter((each) => typeof each === 'object' && each !== null);

/**
 * An example of a schema: its own, or else its default or its constant, or else one of its members.
 * A schema whose members depend on each other, or with an unusual pattern, states its example with
 * `.meta({ examples: [...] })`.
 */
function exampleOf(schema: Schema, document: object): unknown {
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if (typeof schema.$ref === 'string') return exampleOf(schemaAt(document, schema.$ref), document);
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  const first = listOf(schema.anyOf ?? schema.oneOf)[0];
  if (first && schema.properties === undefined) return exampleOf(first, document);
  switch (schema.type) {
    case 'object':
      return exampleOfObject(schema, document);
    case 'array':
      return [exampleOf(schema.items as Schema, document)]; // `items` is a schema
    case 'integer':
    case 'number':
      return Math.max(1, Number(schema.minimum ?? 1));
    case 'boolean':
      return true;
    case 'string':
      return exampleOfText(schema);
    default:
      return null;
  }
}

function exampleOfObject(schema: Schema, document: object): unknown {
  const { properties, propertyNames, additionalProperties } = schema;
  if (typeof properties === 'object' && properties !== null) {
    const members = Object.entries<Schema>({ ...properties });
    return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member, document)]));
  }
  if (typeof additionalProperties !== 'object') return {};
  // A schema, if present.
  const name = exampleOf({ type: 'string', ...(propertyNames as Schema | undefined) }, document);
  // A schema, because it is an object.
  return { [String(name)]: exampleOf(additionalProperties as Schema, document) };
}

/** The schemas of `allOf`, `anyOf` or `oneOf`. */
const listOf = (value: unknown): readonly Schema[] => (Array.isArray(value) ? value : []);

function exampleOfText({ format, pattern, allOf, maxLength }: Schema): string {
  const patterns = [pattern, ...listOf(allOf).map((one) => one.pattern)].filter((one) => typeof one === 'string');
  const texts = [...(typeof format === 'string' && FORMATS[format] ? [FORMATS[format]] : []), ...TEXTS];
  const found = texts.find(
    (text) =>
      text.length <= Number(maxLength ?? text.length) && patterns.every((one) => new RegExp(one, 'u').test(text)),
  );
  return found ?? '';
}
