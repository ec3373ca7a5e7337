import { serviceUrl } from '../src/shared/wire.ts';

const httpOrHttps = serviceUrl(['http', 'https']);
const httpsOnly = serviceUrl(['https']);

test.each(['https://hub.example.com', 'http://127.0.0.1:4100', 'https://[::1]:8443/base', 'https://a.example/x/y/'])(
  '%s is a service URL',
  (given) => expect(httpOrHttps.parse(given)).toBe(given),
);

test.each([
  'https:user:pw@a.example',
  'https:/user:pw@a.example',
  'https://user:pw@a.example',
  'https://user@a.example',
  'https:\\\\user:pw@a.example',
  ' https://a.example',
  'https:///a.example',
  'https://a.example/?x=1',
  'https://a.example/#x',
  'ftp://a.example',
  'https://a.example ',
  'https://a example',
  'https://',
  'a.example',
])('%j is not a service URL', (given) => {
  expect(httpOrHttps.safeParse(given).success).toBe(false);
});

test('an http URL is rejected if only https is allowed', () => {
  expect(httpsOnly.safeParse('http://a.example').error?.issues[0]?.message).toContain('must be an https URL');
});
