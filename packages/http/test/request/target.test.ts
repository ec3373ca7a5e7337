import { sendRaw, startService, stopServices, wire } from '../world.ts';

afterEach(stopServices);

test.each(['GET http://a.example.test/things?limit=1', 'GET HTTP://[::1/things?limit=1'])(
  'a target in absolute-form has the route of its path: %s',
  async (start) => {
    const { port } = await startService();
    expect(await sendRaw(port, wire(start))).toMatch(/^HTTP\/1\.1 200 /);
  },
);

test.each(['GET *', 'OPTIONS *', 'GET /%'])(
  'a target that is neither a path nor a URL is 400 and is logged unchanged: %s',
  async (start) => {
    const { port, entry } = await startService();
    const response = await sendRaw(port, wire(start));
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toContain('"code":"invalid_request"');
    expect(await entry(({ message }) => message === 'request')).toMatchObject({ path: start.split(' ')[1] });
  },
);

test('a request for an upgrade receives a response, and its connection is closed', async () => {
  const { port } = await startService();
  const response = await sendRaw(
    port,
    'GET /things HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
  );
  expect(response).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/s);
});

test.each(['/%74hings', '/th%69ngs?limit=1', '/thing%73?limit=%31'])(
  'percent-encoded unreserved characters are the same path: %s',
  async (path) => {
    const { port } = await startService();
    expect(await sendRaw(port, wire(`GET ${path}`))).toMatch(/^HTTP\/1\.1 200 /);
  },
);

test('other percent-encoded characters of a path are not decoded', async () => {
  const { port } = await startService();
  expect(await sendRaw(port, wire('GET /%2Fthings'))).toMatch(/^HTTP\/1\.1 404 /);
  expect(await sendRaw(port, wire('GET /things%3Flimit=1'))).toMatch(/^HTTP\/1\.1 404 /);
});
