// The hash by which a copy of a template is held against the template, in the database: of what runs, and of nothing else.
import { template } from '@svc/contract';
import { workloadMembers } from '@svc/contract/fleet';
import { aTemplate } from '../a-template.ts';
import { startWorld } from '../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const original = aTemplate();
const hashOf = async (document: object) => {
  const [row] = await world.database.client.$queryRaw<{ hash: string }[]>`
    SELECT template_hash(${JSON.stringify(document)}::jsonb) AS hash`;
  return row?.hash;
};

/** Something else of the same type, or what a nullable member could be. */
function other(value: unknown): unknown {
  if (Array.isArray(value)) return [...value, 'more'];
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return value === null ? 'x' : { ...(value as object), more: 'x' };
}

test.each(Object.keys(template.shape))('%s', async (member) => {
  const changed = { ...original, [member]: other(original[member as keyof typeof original]) };
  const isOther = (await hashOf(changed)) !== (await hashOf(original));
  expect(isOther).toBe((workloadMembers as readonly string[]).includes(member));
});

test('each of the members that say what runs is a template’s', () => {
  expect(Object.keys(template.shape)).toEqual(expect.arrayContaining([...workloadMembers]));
});

test('what a member was moved to another is no copy', async () => {
  const { cpu_request, memory_request } = original;
  const swapped = { ...original, cpu_request: memory_request, memory_request: cpu_request };
  expect(await hashOf(swapped)).not.toBe(await hashOf(original));
});

test('the order of members is nothing, that of a command is', async () => {
  const turned = Object.fromEntries(Object.entries(original).reverse());
  expect(await hashOf(turned)).toBe(await hashOf(original));
  expect(await hashOf({ ...original, command: [...original.command].reverse() })).not.toBe(await hashOf(original));
});
