import dns from 'node:dns/promises';
import os from 'node:os';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { resolvesToThisMachine } from '../../src/index.ts';
import { isOwnAddress, type Reach, reachOf } from '../../src/outbound/addresses.ts';

const separatedBySpace = (text: string) => text.trim().split(/\s+/);

const ADDRESSES: Readonly<Record<Reach, readonly string[]>> = {
  public: separatedBySpace(`
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 126.255.255.255 128.0.0.0
    100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0
    169.253.255.255 169.255.0.0 192.0.1.0 192.0.3.0 198.17.255.255 198.20.0.0
    198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 168.63.129.17
    2606:4700:4700::1111 2001:200::1 2001:db9:: 3ffe:ffff::1 3fff:1000::1
    ::ffff:8.8.8.8 ::ffff:808:808 64:ff9b::8.8.8.8 2002:808:808::1
  `),
  loopback: separatedBySpace(`
    127.0.0.1 127.0.0.0 127.255.255.255 0.0.0.0 ::1 :: 0:0:0:0:0:0:0:1
    ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:0.0.0.0 ::127.0.0.1 ::ffff:0:127.0.0.1
    64:ff9b::7f00:1 64:ff9b:1::127.0.0.1 2002:7f00:1::
  `),
  private: separatedBySpace(`
    10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255
    100.64.0.0 100.127.255.255 0.0.0.1 0.255.255.255 192.0.0.0 192.0.0.255 192.88.99.1
    198.18.0.0 198.19.255.255 192.0.2.1 198.51.100.1 203.0.113.1
    224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.255
    fc00::1 fdff:ffff::1 fec0::1 ff02::1 100::1 2001::1 2001:1ff::1 2001:db8::1
    3fff::1 3fff:fff::1 5f00::1 4000::1 1fff::1 fe00::1 64:ff9b:2::1 64:ff9b::1:808:808
    ::ffff:10.0.0.1 ::ffff:a00:1 ::10.0.0.1 64:ff9b::c0a8:1 2002:a00:1::1
    64:ff9b:1::8.8.8.8 64:ff9b:1::10.0.0.1
  `),
  never: separatedBySpace(`
    169.254.0.0 169.254.169.254 169.254.255.255 100.100.100.200 168.63.129.16 192.0.0.192
    fe80::1 febf::1 fe80::1%eth0 fd00:ec2::254 fd20:ce::254
    ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::169.254.169.254 64:ff9b::169.254.169.254
    64:ff9b:1::169.254.169.254 2002:a9fe:a9fe::1 ::ffff:100.100.100.200
  `),
};

test.each(Object.entries(ADDRESSES).flatMap(([reach, addresses]) => addresses.map((address) => [address, reach])))(
  '%s is %s',
  (address, reach) => {
    expect(reachOf(address)).toBe(reach);
  },
);

test.each(['localhost', 'example.com', '', '127.1', '1.2.3', '[::1]'])('%p is not an address', (name) => {
  expect(reachOf(name)).toBeUndefined();
});

describe('an address of a network interface of this machine', () => {
  const OWN = ['192.168.7.20', 'fd12::7', 'fe80::5%eth0'];
  beforeEach(() => {
    // Other members are not read.
    const addresses = OWN.map((address) => ({ address })) as os.NetworkInterfaceInfo[];
    jest.spyOn(os, 'networkInterfaces').mockReturnValue({ eth0: addresses });
  });
  afterEach(() => void jest.restoreAllMocks());

  test.each(['192.168.7.20', '::ffff:192.168.7.20', '64:ff9b::c0a8:714', 'fd12:0::0:7', 'fe80::5%eth1'])(
    'is recognized in each form: %s',
    (address) => expect(isOwnAddress(address)).toBe(true),
  );

  test.each(['192.168.7.21', 'fd12::8', 'engine', ''])('is not %p', (address) =>
    expect(isOwnAddress(address)).toBe(false),
  );

  test.each(['http://192.168.7.20:2375', 'https://[fd12::7]:2376', 'http://engine.example.test:2375'])(
    'is the target of %s',
    async (target) => {
      jest.spyOn(dns, 'lookup').mockResolvedValue([{ address: '192.168.7.20', family: 4 }] as never);
      expect(await resolvesToThisMachine(new URL(target))).toBe(true);
    },
  );

  test('is not the target of a name with other addresses, or without any', async () => {
    const lookup = jest.spyOn(dns, 'lookup').mockResolvedValue([{ address: '192.168.7.21', family: 4 }] as never);
    expect(await resolvesToThisMachine(new URL('http://engine.example.test:2375'))).toBe(false);
    lookup.mockRejectedValue(new Error('ENOTFOUND'));
    expect(await resolvesToThisMachine(new URL('http://engine.example.test:2375'))).toBe(false);
  });
});
