import { assertProperty, seeded } from '@svc/testing/properties';
import fc from 'fast-check';
import {
  addressNumber,
  addressText,
  capacityOf,
  DEFAULT_NETWORK_POOL,
  freeAddresses,
  freeSubnet,
  isPool,
  macOf,
  movedAddress,
  parseSubnet,
  prefixFor,
  type Subnet,
  subnetOf,
  subnetText,
} from '../../src/placement/subnets.ts';

const endOf = ({ first, prefix }: Subnet) => first + 2 ** (32 - prefix);
const overlaps = (one: Subnet, other: Subnet) => one.first < endOf(other) && other.first < endOf(one);

test.each([
  ['10.213.0.0/16', true],
  ['192.168.0.0/17', true],
  ['10.0.0.0/8', true],
  ['10.213.0.0/20', false],
  ['8.8.0.0/16', false],
  ['172.0.0.0/8', false],
])('%s can be a range for networks: %s', (text, expected) => {
  expect(isPool(subnetOf(text))).toBe(expected);
});

test.each(['10.213.0.1/16', '10.213.0.0', '10.213.0.0/33', '256.0.0.0/8', '10.0.0/8', '10.0.0.0/8/8', ''])(
  '"%s" is not a subnet',
  (text) => {
    expect(parseSubnet(text)).toBeUndefined();
  },
);

test('the MAC address of an instance has the four bytes of its address', () => {
  expect(macOf('10.213.0.255')).toBe('02:42:0a:d5:00:ff');
});

test('a network has room for its instances, its gateway and its first and last address', () => {
  expect([1, 61, 62, 125, 126].map((instances) => prefixFor({ applicationId: 'a', instances }))).toEqual([
    26, 26, 25, 25, 24,
  ]);
  expect(prefixFor({ applicationId: null, instances: 1 })).toBe(20);
  expect(capacityOf(subnetOf('10.213.0.0/20'))).toBe(4093);
});

const owner = fc.record({
  applicationId: fc.option(fc.constant('application'), { nil: null }),
  instances: fc.integer({ min: 1, max: 500 }),
});

test('networks of a host are in the pool and never overlap, and the first one is kept for deployments without an application', () =>
  assertProperty(
    fc.property(fc.array(owner, { maxLength: 80 }), (owners) => {
      const taken: Subnet[] = [];
      for (const each of owners) {
        const prefix = prefixFor(each);
        const found = freeSubnet(DEFAULT_NETWORK_POOL, { ...each, prefix }, taken);
        if (!found) continue;
        expect(taken.filter((other) => overlaps(found, other))).toEqual([]);
        expect(found.first % 2 ** (32 - prefix)).toBe(0);
        expect(found.first >= DEFAULT_NETWORK_POOL.first && endOf(found) <= endOf(DEFAULT_NETWORK_POOL)).toBe(true);
        if (each.applicationId !== null) expect(overlaps(found, subnetOf('10.213.0.0/20'))).toBe(false);
        taken.push(found);
      }
    }),
  ));

test('a pool has 960 networks of applications beside the common one, and then none', () => {
  const taken: Subnet[] = [];
  const next = (applicationId: string | null, prefix: number) => {
    const found = freeSubnet(DEFAULT_NETWORK_POOL, { applicationId, prefix }, taken);
    if (found) taken.push(found);
    return found && subnetText(found);
  };
  const found = Array.from({ length: 960 }, () => next('application', 26));
  expect([found[0], found.at(-1)]).toEqual(['10.213.16.0/26', '10.213.255.192/26']);
  expect(next('application', 26)).toBeUndefined();
  expect([next(null, 20), next(null, 20)]).toEqual(['10.213.0.0/20', undefined]);
});

test('addresses of a network are given once, the released ones last, and never those of the network and the gateway', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ count: fc.integer({ min: 1, max: 20 }), release: fc.nat(60) }), { maxLength: 30 }),
      async (steps) => {
        const subnet = subnetOf('10.213.16.0/26');
        const used = new Set<number>();
        for (const { count, release } of steps) {
          const left = capacityOf(subnet) - used.size;
          const last = used.size === 0 ? undefined : Math.max(...used);
          const found = await freeAddresses(subnet, count, { last, taken: async () => used });
          expect(found).toHaveLength(Math.min(count, left));
          for (const address of found) {
            expect(used.has(address)).toBe(false);
            expect(address > subnet.first + 1 && address < endOf(subnet) - 1).toBe(true);
            used.add(address);
          }
          const released = [...used][release];
          if (released !== undefined) used.delete(released);
        }
      },
    ),
    seeded(),
  ));

test('a moved address keeps its place', () => {
  expect(movedAddress('10.213.0.9', subnetOf('10.213.0.0/20'), subnetOf('10.213.16.0/20'))).toBe('10.213.16.9');
  expect(addressText(addressNumber('10.213.255.1') ?? 0)).toBe('10.213.255.1');
});
