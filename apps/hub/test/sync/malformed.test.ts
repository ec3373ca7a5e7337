// Rejection of malformed queries for updates, with the explanation of the error.
import { startWorld } from '../world.ts';
import { type Expectation, expectRefused } from './malformed.ts';
import { sinceQuery, updatesOf } from './mirror.ts';

const world = await startWorld();
const { anonymous } = world;
afterAll(() => world.stop());

const NOW = '2026-01-02T03:04:05Z';

test.each<[string, string, Expectation]>([
  ['', 'since', 'required'],
  ['?', 'since', 'required'],
  ['?&&', 'since', 'required'],
  ['?limit=5', 'since', 'required'],
  [`?since=${NOW}&cursor=start`, 'cursor', 'either'],
  [`?cursor=start&since=${NOW}`, 'cursor', 'either'],
  ['?since=&cursor=start', 'since', 'since'],
  [`?since=${NOW}&cursor=`, 'cursor', 'cursor'],
  ['?since=now&cursor=begin', 'cursor', 'cursor'],
  [`?since=${NOW}&limit=5`, 'limit', 'whole'],
  [`?since=${NOW}&since=${NOW}`, 'since', 'once'],
  [`?since=${NOW}&%73ince=${NOW}`, 'since', 'once'],
  ['?cursor=start&cursor=start', 'cursor', 'once'],
  ['?cursor=start&limit=1&limit=2', 'limit', 'once'],
  [`?since[]=${NOW}`, 'since[]', 'known'],
  [`?since[a]=${NOW}`, 'since[a]', 'known'],
  [`?Since=${NOW}`, 'Since', 'known'],
  ['?cursor=start&page=2', 'page', 'known'],
  [`?since=${NOW}&category=any`, 'category', 'known'],
  [`?since=${NOW}&=`, '', 'known'],
  ['?since=%', 'since', 'encoded'],
  ['?since=%ff', 'since', 'encoded'],
  ['?cursor=%c3%28', 'cursor', 'encoded'],
  ['?since=%00', 'since', 'wellFormed'],
  ['?cursor=start%00', 'cursor', 'wellFormed'],
  ['?since=%ed%a0%80', 'since', 'encoded'],
  [`?since=${NOW}&__proto__=1`, '', 'allowedName'],
  [`?since=${NOW}&constructor=1`, 'constructor', 'known'],
])('rejects updates%s with an error for the parameter "%s": %s', (query, path, expected) =>
  expectRefused(anonymous, query, [path, expected]),
);

test.each([
  '',
  'now',
  'NOW',
  'today',
  'yesterday',
  'epoch',
  'infinity',
  '-infinity',
  'null',
  'undefined',
  'NaN',
  '0',
  '1767323045',
  '1767323045000',
  '1e12',
  '2026',
  '2026-01',
  '2026-01-02',
  '2026-01-02Z',
  '20260102T030405Z',
  '2026-W01-5T03:04:05Z',
  '2026-002T03:04:05Z',
  '2026-01-02T03:04:05',
  '2026-01-02 03:04:05Z',
  '2026-01-02T03Z',
  '2026-01-02T03:04:05.Z',
  '2026-01-02T03:04:05.678z0',
  '2026-01-02T03:04:05 Z',
  ' 2026-01-02T03:04:05Z',
  '2026-01-02T03:04:05Z ',
  '2026-01-02T03:04:05Z\n',
  '2026-01-02T03:04:05UTC',
  '2026-01-02T03:04:05 Europe/Berlin',
  '2026-01-02T03:04:05+',
  '2026-01-02T03:04:05+1',
  '2026-01-02T03:04:05+01:0',
  '2026-01-02T03:04:05+24:00',
  '2026-01-02T03:04:05+01:60',
  '2026-1-2T03:04:05Z',
  '2026-02-29T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '1900-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-32T00:00:00Z',
  '2026-01-02T24:00:00Z',
  '2026-01-02T03:60:00Z',
  '2026-01-02T03:04:60Z',
  '0000-01-01T00:00:00Z',
  '-0001-01-01T00:00:00Z',
  '+002026-01-02T03:04:05Z',
  '10000-01-01T00:00:00Z',
  '275760-09-13T00:00:00Z',
  '0001-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
  'Fri, 02 Jan 2026 03:04:05 GMT',
  '２０２６-01-02T03:04:05Z',
  '2026−01−02T03:04:05Z',
  "2026-01-02T03:04:05Z'; --",
  '["2026-01-02T03:04:05Z"]',
  `${NOW}${'0'.repeat(5000)}`,
])('rejects since=%j', (since) => expectRefused(anonymous, `?${sinceQuery(since)}`, ['since', 'since']));

test('rejects an unencoded plus sign in since, and accepts an encoded one', async () => {
  await expectRefused(anonymous, '?since=2026-01-02T03:04:05+01:00', ['since', 'since']);
  expect(await updatesOf(anonymous.get, 'since=2026-01-02T03:04:05%2B01:00')).toMatchObject({ has_more: false });
});

test.each([
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00.000-23:59',
  '1970-01-01t00:00z',
  '1969-12-31T23:59:59,999999999999+0000',
  '9999-12-31T23:59:59.999Z',
  '2024-02-29T00:00:00-12',
])('accepts the unusual timestamp since=%s', async (since) => {
  expect(await updatesOf(anonymous.get, sinceQuery(since))).toMatchObject({ reset: false, has_more: false });
});

test.each([
  '',
  '0',
  '00',
  '1001',
  '9999999999',
  '-1',
  '+1',
  '1.0',
  '1.5',
  '1e2',
  '0x10',
  ' 5',
  '5 ',
  'ten',
  '٣',
  'NaN',
  '1,2',
])('rejects limit=%j', (limit) =>
  expectRefused(anonymous, `?cursor=start&limit=${encodeURIComponent(limit)}`, ['limit', 'limit']),
);
