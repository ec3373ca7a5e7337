// The rules of the linters that do not apply to the OpenAPI documents, each with its reason.

export const redocly = {
  extends: ['recommended-strict'],
  rules: {
    'operation-2xx-response': 'off', // the two endpoints for the redirects of a sign-in have only 302
    'no-required-schema-properties-undefined': 'off', // `not` with `required` states which members exclude each other
  },
};

/** Spectral runs the rules that it recommends for OpenAPI. */
export const spectralOff = [
  'info-contact', // the repository names no contact
  'operation-description', // each operation has a summary; a description would repeat it
  'oas3-valid-schema-example', // it takes an example with a member `default` for a schema; redocly checks the same examples
];

/** What to change in the contract for frequent problems. */
export const advice = {
  'operation-tag-defined': 'describe the tag in packages/contract/src/openapi/services.ts',
  'no-invalid-media-type-examples': 'state an example with .meta({ examples: [...] }) at the schema',
  'oas3-valid-media-example': 'state an example with .meta({ examples: [...] }) at the schema',
  'no-invalid-schema-examples': 'state an example with .meta({ examples: [...] }) at the schema',
};
