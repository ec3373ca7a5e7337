import { afterEach, describe, expect, test } from '@jest/globals';
import { sendRaw, startService, stopServices, wire } from '../world.ts';

afterEach(stopServices);

const TOKEN = 'a-token-of-the-metrics';

describe('metrics', () => {
  test('are in the Prometheus text format', async () => {
    const { api } = await startService();
    const { headers, text } = await api.get('/metrics').expect(200);
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain('# TYPE http_requests_total counter');
    expect(text).toContain('process_cpu_user_seconds_total');
    expect(text).toContain(`build_info{version="1.2.3",node_version="${process.versions.node}"} 1`);
  });

  test('are returned for the configured token', async () => {
    const { api } = await startService({ metricsToken: () => TOKEN });
    await api.get('/metrics').set('Authorization', `Bearer ${TOKEN}`).expect(200);
  });

  test.each([
    ['no credential', undefined],
    ['another token', 'Bearer a-token-of-the-metricz'],
    ['a prefix of the token', `Bearer ${TOKEN.slice(0, -1)}`],
    ['the token with a suffix', `Bearer ${TOKEN}x`],
    ['an empty token', 'Bearer '],
    ['the token without a scheme', TOKEN],
  ])('that require a token are not returned for %s', async (_, authorization) => {
    const { api } = await startService({ metricsToken: () => TOKEN });
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

  test('have a limited number of label values, which requests cannot increase', async () => {
    const { api, port, entry } = await startService();
    for (const name of ['a', 'b', 'c']) await api.get(`/unknown-${name}`);
    for (const name of ['a', 'b', 'c']) await api.get(`/things/unknown-${name}`);
    await sendRaw(port, wire('PROPFIND /things'));
    await entry(({ method }) => method === 'PROPFIND');
    const { text } = await api.get('/metrics');
    expect(text).not.toContain('unknown-');
    expect(text).not.toContain('PROPFIND');
    expect(text).toContain('http_requests_total{method="GET",route="none",status="404"} 3');
    expect(text).toContain('http_requests_total{method="other",route="/things",status="405"} 1');
  });

  test('of one service do not include another service in the process', async () => {
    const one = await startService();
    const other = await startService();
    await one.api.get('/things/latest');
    await one.entry(({ path }) => path === '/things/latest');
    expect((await other.api.get('/metrics')).text).not.toContain('/things/latest');
  });

  test('include the metrics that a service registers', async () => {
    const { api } = await startService({
      observe: ({ registry }) => registry.setDefaultLabels({ service: 'things' }),
    });
    await api.get('/metrics');
    expect((await api.get('/metrics')).text).toContain('service="things"');
  });
});
