import { afterEach, describe, expect, test } from '@jest/globals';
import { sendRaw, startService, stopServices, wire } from './world.ts';

afterEach(stopServices);

const TOKEN = 'a-token-of-the-metrics';

describe('metrics', () => {
  test('are in the text format of Prometheus', async () => {
    const { api } = await startService();
    const { headers, text } = await api.get('/metrics').expect(200);
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain('# TYPE http_requests_total counter');
    expect(text).toContain('process_cpu_user_seconds_total');
  });

  test('with a token configured are for its bearer', async () => {
    const { api } = await startService({ metricsToken: TOKEN });
    await api.get('/metrics').set('Authorization', `Bearer ${TOKEN}`).expect(200);
  });

  test.each([
    ['nobody', undefined],
    ['another token', 'Bearer a-token-of-the-metricz'],
    ['a beginning of it', `Bearer ${TOKEN.slice(0, -1)}`],
    ['more than it', `Bearer ${TOKEN}x`],
    ['an empty token', 'Bearer '],
    ['the token without a scheme', TOKEN],
  ])('with a token configured are refused to %s', async (_, authorization) => {
    const { api } = await startService({ metricsToken: TOKEN });
    const { body, headers, text } = await api
      .get('/metrics')
      .set(authorization === undefined ? {} : { Authorization: authorization })
      .expect(401);
    expect(body.code).toBe('unauthenticated');
    expect(headers['www-authenticate']).toBe('Bearer realm="metrics"');
    expect(text).not.toContain('http_requests_total');
  });

  test('count a request by method, route and status', async () => {
    const { api, entry } = await startService();
    await api.get('/things/1');
    await entry(({ path }) => path === '/things/1');
    const { text } = await api.get('/metrics');
    expect(text).toContain('http_requests_total{method="GET",route="/things/:id",status="200"} 1');
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/things/:id",status="200"} 1');
  });

  test('have labels from closed sets: strangers can’t make them grow', async () => {
    const { api, port, entry } = await startService();
    for (const name of ['a', 'b', 'c']) await api.get(`/stranger-${name}`);
    for (const name of ['a', 'b', 'c']) await api.get(`/things/stranger-${name}`);
    await sendRaw(port, wire('PROPFIND /things'));
    await entry(({ method }) => method === 'PROPFIND');
    const { text } = await api.get('/metrics');
    expect(text).not.toContain('stranger');
    expect(text).not.toContain('PROPFIND');
    expect(text).toContain('http_requests_total{method="GET",route="none",status="404"} 3');
    expect(text).toContain('http_requests_total{method="other",route="/things",status="405"} 1');
  });

  test('of one service do not count in another’s', async () => {
    const [one, other] = [await startService(), await startService()];
    await one.api.get('/things/latest');
    await one.entry(({ path }) => path === '/things/latest');
    expect((await other.api.get('/metrics')).text).not.toContain('/things/latest');
  });

  test('hold the figures that a service adds', async () => {
    const { api } = await startService({
      observe: ({ registry }) => registry.setDefaultLabels({ service: 'things' }),
    });
    await api.get('/metrics');
    expect((await api.get('/metrics')).text).toContain('service="things"');
  });
});
