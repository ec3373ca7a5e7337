import { serviceUrl } from '../src/wire.ts';

const both = serviceUrl(['http', 'https']);
const secure = serviceUrl(['https']);

test.each(['https://hub.example.com', 'http://127.0.0.1:4100', 'https://[::1]:8443/base', 'https://a.example/x/y/'])(
  '%s is an address',
  (given) => expect(both.parse(given)).toBe(given),
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
  'https://',
  'a.example',
])('%s is none, in whatever way a browser would read it', (given) => {
  expect(both.safeParse(given).success).toBe(false);
});

test('where only https will do, http is refused with what is allowed', () => {
  expect(secure.safeParse('http://a.example').error?.issues[0]?.message).toContain('must be an https URL');
});
