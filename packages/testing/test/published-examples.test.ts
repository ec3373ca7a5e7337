import { describe, expect, test } from '@jest/globals';
import { fleetService, hubService, openApiDocument, parseFields } from '@svc/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const ADVICE = 'state an example with `.meta({ examples: [...] })` at the schema of the member, or of the body';

interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly examples?: readonly unknown[] }>>;
    readonly requestBodies: Readonly<Record<string, { readonly content: object }>>;
  };
}

describe.each([
  ['hub', hubService],
  ['fleet', fleetService],
])('in the OpenAPI document of the %s', (_, service) => {
  // The document as JSON, with the members that this test reads.
  const { components } = JSON.parse(JSON.stringify(openApiDocument(service))) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ components }, 'openapi');

  test('the service accepts the example of each request body', () => {
    const rejected = Object.values(service.endpoints)
      .filter(({ bodyLimit }) => bodyLimit > 0)
      .flatMap(({ operationId, body }) => {
        const { content } = components.requestBodies[operationId.replace(/^./, (first) => first.toUpperCase())] ?? {};
        const [{ example } = { example: undefined }] = Object.values<{ example?: unknown }>({ ...content });
        const read = parseFields(body, example);
        return read.success ? [] : [{ operationId, example, errors: read.errors, advice: ADVICE }];
      });
    expect(rejected).toEqual([]);
  });

  test.each(Object.keys(components.schemas))('the example of the schema %s conforms to it', (name) => {
    const validate = ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
    for (const example of components.schemas[name]?.examples ?? []) {
      if (!validate(example)) throw new Error(`${ajv.errorsText(validate.errors)}: ${ADVICE}`);
    }
  });
});
