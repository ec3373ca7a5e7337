import { withCookies } from '../../src/index.ts';
import { startService, stopServices } from '../world.ts';

afterEach(stopServices);

test('a reply can set several cookies', async () => {
  const { api } = await startService({
    handlers: { latestThing: async () => withCookies({ id: '1' }, ['one=1; Path=/', 'other=2; Path=/']) },
  });
  const { headers, body } = await api.get('/things/latest').expect(200);
  expect(headers['set-cookie']).toEqual(['one=1; Path=/', 'other=2; Path=/']);
  expect(body).toEqual({ id: '1' });
});

test('a response to another origin also sets all cookies', async () => {
  const { api } = await startService({
    corsOrigins: ['https://app.example.test'],
    handlers: { latestThing: async () => withCookies({ id: '1' }, ['one=1; Path=/', 'other=2; Path=/']) },
  });
  const { headers } = await api.get('/things/latest').set('Origin', 'https://app.example.test').expect(200);
  expect(headers['set-cookie']).toEqual(['one=1; Path=/', 'other=2; Path=/']);
});
