import { template, templateDefaults, templateExamples } from '@svc/contract';
import { workloadSpec } from '@svc/contract/fleet';
import { coveredMembers, signTemplate } from '../src/index.ts';
import { content, first, NOW, outcomeOf, signed, verify } from './world.ts';

/** The members that the hub can change without the publisher. A new member belongs to this list, or is covered. */
const OF_THE_HUB = [
  'advisories',
  'category_icon',
  'category_id',
  'category_name',
  'category_slug',
  'created_at',
  'download_count',
  'icon_url',
  'id',
  'is_featured',
  'is_public',
  'min_tier',
  'replacement',
  'revision',
  'signatures',
  'status',
  'status_message',
  'tags',
  'updated_at',
];

it('covers everything that a workload copies from a template', () => {
  expect(coveredMembers).toEqual(expect.arrayContaining(Object.keys(workloadSpec.shape)));
});

it('covers each member of a template, or leaves it to the hub on purpose', () => {
  expect([...coveredMembers, ...OF_THE_HUB].sort()).toEqual(Object.keys(template.shape).sort());
});

it('knows the default and another value of each covered member, except name and slug', () => {
  const others = coveredMembers.filter((name) => !(name in templateDefaults && name in templateExamples));
  expect(others).toEqual(['name', 'slug']);
});

const examples: Readonly<Record<string, unknown>> = { name: 'Other', slug: 'debug-other', ...templateExamples };

it.each(coveredMembers)('refuses another value of %s', async (name) => {
  const { members, signatures } = await signed();
  expect(await outcomeOf(verify({ members: { ...members, [name]: examples[name] }, signatures }))).toBe(
    'content_changed',
  );
});

it.each(coveredMembers)('refuses a template without %s', async (name) => {
  const { members, signatures } = await signed();
  const rest = Object.fromEntries(Object.entries(members).filter(([member]) => member !== name));
  expect(await outcomeOf(verify({ members: rest, signatures }))).toBe('content_changed');
});

it.each(OF_THE_HUB)('accepts another value of %s, which belongs to the hub', async (name) => {
  const { members, signatures } = await signed();
  expect(await outcomeOf(verify({ members: { ...members, [name]: 'other' }, signatures }))).toBe('accepted');
});

it('signs the defaults of members that a template leaves out', async () => {
  const { name, slug, image_name, image_digest } = content;
  const short = { name, slug, image_name, image_digest, tags: ['other'] };
  const signature = await signTemplate(short, { publisher: 'acme', serial: 1, issuedAt: NOW }, first);
  expect((await verify({ members: { ...templateDefaults, ...short }, signatures: [signature] })).ignored).toEqual([]);
  expect(await outcomeOf(verify({ members: short, signatures: [signature] }))).toBe('content_changed');
});
