// The hash that shows whether a template still matches what a workload copied from it.
import { template } from '@svc/contract';
import { workloadDefaults, workloadMembers } from '@svc/contract/fleet';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { templateHash } from '../../../src/resources/workloads.ts';
import { aTemplate } from '../../a-template.ts';
import { startWorld } from '../../world.ts';

const world = await startWorld();
afterAll(() => world.stop());

const original = aTemplate();
const hashOf = async (document: object) => {
  const [row] = await world.database.client.$queryRaw<{ hash: string }[]>`
    SELECT ${templateHash(Prisma.sql`${JSON.stringify(document)}::jsonb`)} AS hash`;
  return row?.hash;
};

/** Another value of the same type, or a value of a nullable member. */
function other(value: unknown): unknown {
  if (Array.isArray(value)) return [...value, 'more'];
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  return value === null ? 'x' : { ...(value as object), more: 'x' };
}

test.each(Object.keys(template.shape))(
  'the hash of a template changes with %s only if a workload has that member',
  async (member) => {
    const changed = { ...original, [member]: other(original[member as keyof typeof original]) };
    const isOther = (await hashOf(changed)) !== (await hashOf(original));
    expect(isOther).toBe((workloadMembers as readonly string[]).includes(member));
  },
);

test.each(workloadMembers)(
  'the hash of a template is the same for a document without %s and for one with its default',
  async (member) => {
    const { [member]: _, ...without } = original;
    expect(await hashOf(without)).toBe(await hashOf({ ...original, [member]: workloadDefaults[member] }));
  },
);

test('the hash of a template is a string also if every member has its default', async () => {
  expect(await hashOf({ ...original, ...workloadDefaults })).toMatch(/^[0-9a-f]{64}$/);
});

test('the hash of a template changes if two members swap their values', async () => {
  const { cpu_request, memory_request } = original;
  const swapped = { ...original, cpu_request: memory_request, memory_request: cpu_request };
  expect(await hashOf(swapped)).not.toBe(await hashOf(original));
});

test('the hash of a template does not depend on the order of members, but on the order of a command', async () => {
  const reversed = Object.fromEntries(Object.entries(original).reverse());
  expect(await hashOf(reversed)).toBe(await hashOf(original));
  expect(await hashOf({ ...original, command: [...original.command].reverse() })).not.toBe(await hashOf(original));
});
