import { describe, expect, test } from '@jest/globals';
import {
  adviceDefaults,
  category,
  categoryChange,
  newCategory,
  newTemplate,
  template,
  templateChange,
  templateDefaults,
} from '../src/index.ts';

const ID = '0190c5a0-0000-7000-8000-000000000000';
const MOMENT = '2026-01-02T03:04:05.678Z';
const minimal = { name: 'My App', category_id: ID };

describe('a new template', () => {
  test('requires only its name and its category', () => {
    const paths = newTemplate.safeParse({}).error?.issues.map(({ path }) => path.join('.'));
    expect(paths?.sort()).toEqual(['category_id', 'name']);
  });

  test('has the documented defaults', () => {
    expect(newTemplate.parse(minimal)).toEqual({ ...templateDefaults, ...minimal, owner_org_id: null, signatures: [] });
  });

  test('does not share the default lists with other templates', () => {
    newTemplate.parse(minimal).tags.push('changed');
    expect(newTemplate.parse(minimal).tags).toEqual([]);
  });

  test.each(['org_id', 'role', 'Name', 'imageName', 'key'])('cannot have the unknown member %s', (member) => {
    const result = newTemplate.safeParse({ ...minimal, [member]: 'x' });
    expect(result.error?.issues).toMatchObject([{ code: 'unrecognized_keys', keys: [member] }]);
  });

  test.each(['updates', 'Not A Slug', ''])('cannot have the slug %p', (slug) => {
    expect(newTemplate.safeParse({ ...minimal, slug }).success).toBe(false);
  });
});

describe('a change of a template', () => {
  test('contains no defaults for members that are left out', () => {
    expect(templateChange.parse({ description: 'x' })).toEqual({ description: 'x' });
  });

  test.each(['registry_url', 'registry_credentials', 'icon_url', 'owner_org_id'])(
    'can clear %s with null',
    (member) => {
      expect(templateChange.parse({ [member]: null })).toEqual({ [member]: null });
    },
  );

  test.each(['name', 'slug', 'category_id', 'description', 'tags', 'gpu_count', 'is_public', 'min_tier'])(
    'cannot clear %s with null',
    (member) => {
      expect(templateChange.safeParse({ [member]: null }).success).toBe(false);
    },
  );
});

const readAsAdmin = {
  ...templateDefaults,
  ...adviceDefaults,
  ...minimal,
  id: ID,
  slug: 'my-app',
  owner_org_id: null,
  category_name: 'Databases',
  category_slug: 'databases',
  category_icon: 'db',
  download_count: 7,
  created_at: MOMENT,
  updated_at: MOMENT,
};

test.each([
  'category_name',
  'category_slug',
  'category_icon',
  'download_count',
  'revision',
  'advisories',
  'created_at',
  'updated_at',
])('the read-only member %s is accepted with any value, so that a client can send back what it read', (member) => {
  expect(templateChange.safeParse({ [member]: { any: ['thing'] } }).success).toBe(true);
  expect(newTemplate.safeParse({ ...minimal, [member]: 42 }).success).toBe(true);
});

test('a template as administrators read it is accepted as a change', () => {
  expect(templateChange.safeParse(readAsAdmin).error?.issues ?? []).toEqual([]);
});

test('a template of a hub without revisions is active, has no advisories, and its revision is not known', () => {
  const { revision, status, status_message, replacement, advisories, ...older } = readAsAdmin;
  expect(template.parse(older)).toMatchObject(adviceDefaults);
});

test('a template in a response contains only members of the contract', () => {
  expect(template.parse({ ...readAsAdmin, search_text: 'x', sort_name: 'y' })).not.toHaveProperty('search_text');
});

test('a template in the catalog does not contain its owner', () => {
  expect(template.parse({ ...readAsAdmin, owner_org_id: ID })).not.toHaveProperty('owner_org_id');
});

describe('a category', () => {
  test('requires only its name', () => {
    expect(newCategory.parse({ name: 'Databases' })).toEqual({
      name: 'Databases',
      description: '',
      icon: '',
      sort_order: 0,
      is_private: false,
    });
  });

  test('keeps the members that a change leaves out', () => {
    expect(categoryChange.parse({ sort_order: -1 })).toEqual({ sort_order: -1 });
  });

  test.each([2_147_483_648, 1.5, '1', null])('cannot have the sort order %p', (sort_order) => {
    expect(categoryChange.safeParse({ sort_order }).success).toBe(false);
  });

  test('as administrators read it is accepted as a change', () => {
    const read = { id: ID, name: 'a', slug: 'a', description: '', icon: '', sort_order: 0, is_private: false };
    const complete = { ...read, template_count: 1, access_count: 2, created_at: MOMENT, updated_at: MOMENT };
    expect(categoryChange.safeParse(complete).error?.issues ?? []).toEqual([]);
    expect(category.parse(complete)).not.toHaveProperty('access_count');
  });
});
