import { expect, test } from '@jest/globals';
import { withTemplateTables } from '../src/openapi/template-tables.ts';

const tables = ['members', 'objects', 'read-only members'];
const page = `# T\n${tables.map((name) => `<!-- begin ${name} -->\n\n<!-- end ${name} -->\n`).join('')}`;

/** An OpenAPI document in which a new template has one member. */
const document = (member: string, schema: object) => ({
  components: {
    requestBodies: {
      CreateTemplate: { content: { 'application/json': { schema: { properties: { [member]: schema } } } } },
    },
    schemas: { Template: { properties: { [member]: schema, id: { type: 'string', format: 'uuid' } } } },
  },
});

test('the tables of templates replace the previous ones, and keep the rest of the page', () => {
  const given = document('tags', { type: 'array', maxItems: 3, items: { type: 'string', maxLength: 9 }, default: [] });
  const written = withTemplateTables(page, given);
  expect(written).toMatch(/^# T\n/);
  expect(written).toContain('| `tags` | list of text | 3 entries, each 9 characters | `[]` |  | words for ');
  expect(written).toContain('| `id` | UUID | the identity ');
  expect(withTemplateTables(written, given)).toBe(written);
  expect(() => withTemplateTables('# T\n', given)).toThrow('docs/templates.md has no place for the table of members');
});

test('a member without a meaning is an error', () => {
  expect(() => withTemplateTables(page, document('other', { type: 'string' }))).toThrow(
    'the member other has no meaning',
  );
});
