import { describe, expect, test } from '@jest/globals';
import {
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
const least = { name: 'My App', category_id: ID };

describe('a new template', () => {
  test('needs its name and its category, and nothing else', () => {
    const paths = newTemplate.safeParse({}).error?.issues.map(({ path }) => path.join('.'));
    expect(paths?.sort()).toEqual(['category_id', 'name']);
  });

  test('has the documented defaults', () => {
    expect(newTemplate.parse(least)).toEqual({ ...templateDefaults, ...least, owner_org_id: null });
  });

  test('never shares the lists of its defaults with the next one', () => {
    newTemplate.parse(least).tags.push('changed');
    expect(newTemplate.parse(least).tags).toEqual([]);
  });

  test.each(['org_id', 'role', 'Name', 'imageName', 'key'])('must not have the unknown member %s', (member) => {
    const result = newTemplate.safeParse({ ...least, [member]: 'x' });
    expect(result.error?.issues).toMatchObject([{ code: 'unrecognized_keys', keys: [member] }]);
  });

  test.each(['updates', 'Not A Slug', ''])('must not have the slug %p', (slug) => {
    expect(newTemplate.safeParse({ ...least, slug }).success).toBe(false);
  });
});

describe('a change of a template', () => {
  test('holds only what was named: no default comes in', () => {
    expect(templateChange.parse({ description: 'x' })).toEqual({ description: 'x' });
  });

  test.each(['registry_url', 'registry_credentials', 'icon_url', 'owner_org_id'])('clears %s by null', (member) => {
    expect(templateChange.parse({ [member]: null })).toEqual({ [member]: null });
  });

  test.each(['name', 'slug', 'category_id', 'description', 'tags', 'gpu_count', 'is_public', 'min_tier'])(
    'must not clear %s by null',
    (member) => {
      expect(templateChange.safeParse({ [member]: null }).success).toBe(false);
    },
  );
});

const readAsAdmin = {
  ...templateDefaults,
  ...least,
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

test.each(['category_name', 'category_slug', 'category_icon', 'download_count', 'created_at', 'updated_at'])(
  'the read-only member %s is accepted in any shape, so that GET, edit, PUT works',
  (member) => {
    expect(templateChange.safeParse({ [member]: { any: ['thing'] } }).success).toBe(true);
    expect(newTemplate.safeParse({ ...least, [member]: 42 }).success).toBe(true);
  },
);

test('a template as an administrator reads it is a change that is accepted', () => {
  expect(templateChange.safeParse(readAsAdmin).error?.issues ?? []).toEqual([]);
});

test('a template on the wire drops whatever is not in its contract', () => {
  expect(template.parse({ ...readAsAdmin, search_text: 'x', sort_name: 'y' })).not.toHaveProperty('search_text');
});

test('a template for everyone never shows who owns it', () => {
  expect(template.parse({ ...readAsAdmin, owner_org_id: ID })).not.toHaveProperty('owner_org_id');
});

describe('a category', () => {
  test('needs only its name', () => {
    expect(newCategory.parse({ name: 'Databases' })).toEqual({
      name: 'Databases',
      description: '',
      icon: '',
      sort_order: 0,
      is_private: false,
    });
  });

  test('changes only in what was named', () => {
    expect(categoryChange.parse({ sort_order: -1 })).toEqual({ sort_order: -1 });
  });

  test.each([2_147_483_648, 1.5, '1', null])('must not have the sort order %p', (sort_order) => {
    expect(categoryChange.safeParse({ sort_order }).success).toBe(false);
  });

  test('as it is read is a change that is accepted', () => {
    const read = { id: ID, name: 'a', slug: 'a', description: '', icon: '', sort_order: 0, is_private: false };
    const whole = { ...read, template_count: 1, access_count: 2, created_at: MOMENT, updated_at: MOMENT };
    expect(categoryChange.safeParse(whole).error?.issues ?? []).toEqual([]);
    expect(category.parse(whole)).not.toHaveProperty('access_count');
  });
});
