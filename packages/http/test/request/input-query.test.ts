import { afterEach, describe, expect, test } from '@jest/globals';
import { startService, stopServices } from '../world.ts';

afterEach(stopServices);

describe('a query', () => {
  test('is parsed by the schema of the endpoint', async () => {
    const { api } = await startService();
    const { body } = await api.get('/things?search=a%20b+c%2B&limit=7').expect(200);
    expect(body).toEqual({ things: [{ id: '{"limit":7,"search":"a b c+"}' }] });
  });

  test('can be empty and have empty parts', async () => {
    const { api } = await startService();
    const { body } = await api.get('/things?&&').expect(200);
    expect(body).toEqual({ things: [{ id: '{"limit":50}' }] });
  });

  test.each([
    ['an unknown parameter', 'colour=red', 'colour', 'unknown parameter; allowed: limit, search'],
    [
      'a parameter in a different case',
      'Limit=1',
      'Limit',
      'unknown parameter; did you mean limit?; allowed: limit, search',
    ],
    ['a repeated parameter', 'limit=1&limit=2', 'limit', 'must not be repeated'],
    ['a parameter repeated in another encoding', 'limit=1&%6Cimit=2', 'limit', 'must not be repeated'],
    ['a parameter as a list', 'limit[]=1', 'limit[]', 'unknown parameter; did you mean limit?; allowed: limit, search'],
    ['a hexadecimal number', 'limit=0x10', 'limit', 'must be an integer from 1 to 100'],
    ['a number out of bounds', 'limit=101', 'limit', 'must be an integer from 1 to 100'],
    ['an invalid percent-encoding', 'search=%zz', 'search', 'must be percent-encoded UTF-8'],
    ['a truncated percent-encoding', 'search=%e2%82', 'search', 'must be percent-encoded UTF-8'],
    ['an encoded lone surrogate', 'search=%ed%a0%80', 'search', 'must be percent-encoded UTF-8'],
    ['NUL', 'search=a%00b', 'search', 'must be well-formed Unicode without the character NUL'],
    ['a control character', 'search=a%1bb', 'search', 'must not contain line breaks, tabs or other control characters'],
  ])('with %s is rejected with the parameter and what is allowed', async (_, query, path, message) => {
    const { api } = await startService();
    const { body } = await api.get(`/things?${query}`).expect(400);
    expect(body).toMatchObject({ code: 'validation_failed', errors: [{ path, message }] });
    expect(body.detail).toBe(`${path}: ${message}`);
  });

  test.each(['%zz=1', 'a%00b=1', '__proto__=1', 'constructor=1', 'toString=1'])(
    'with the parameter %s is rejected',
    async (query) => {
      const { api } = await startService();
      const { body } = await api.get(`/things?${query}`).expect(400);
      expect(body).toMatchObject({ code: 'validation_failed', errors: [expect.anything()] });
    },
  );
});

describe('a path parameter', () => {
  test('is decoded', async () => {
    const { api } = await startService();
    const { body } = await api.get('/things/a%2Fb%20c').expect(200);
    expect(body).toEqual({ id: 'a/b c' });
  });

  test('that cannot be valid is rejected with 404', async () => {
    const { api } = await startService();
    const { body } = await api.get(`/things/${'x'.repeat(21)}`).expect(404);
    expect(body.code).toBe('not_found');
  });

  test('with an invalid percent-encoding is rejected with 400', async () => {
    const { api } = await startService();
    const { body } = await api.get('/things/%zz').expect(400);
    expect(body.code).toBe('invalid_request');
  });
});
