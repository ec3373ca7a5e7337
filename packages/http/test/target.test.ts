import { sendRaw, startService, stopServices, wire } from './world.ts';

afterEach(stopServices);

test.each(['GET http://a.example.test/things?limit=1', 'GET HTTP://[::1/things?limit=1'])(
  'an absolute address names its path: %s',
  async (start) => {
    const { port } = await startService();
    expect(await sendRaw(port, wire(start))).toMatch(/^HTTP\/1\.1 200 /);
  },
);

test.each(['GET *', 'OPTIONS *', 'GET /%'])(
  'an address that is neither a path nor a URL is a 400, logged as it was sent: %s',
  async (start) => {
    const { port, entry } = await startService();
    const answer = await sendRaw(port, wire(start));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"invalid_request"');
    expect(await entry(({ message }) => message === 'request')).toMatchObject({ path: start.split(' ')[1] });
  },
);

test('a request for an upgrade is answered, and ends its connection', async () => {
  const { port } = await startService();
  const answer = await sendRaw(port, 'GET /things HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s);
});
