import { createSignInCookie } from '../src/index.ts';

const cookie = createSignInCookie('hub');

test('the cookie of a sign-in cannot be set by another host where the service has https', () => {
  const callback = new URL('https://hub.example.test/api/v1/auth/oidc/callback');
  const name = cookie.nameOf('0123456789abcdef', callback);
  expect(name).toBe('__Host-hub-sign-in-0123456789ab');
  expect(cookie.set(name, 'x', callback)).toBe(`${name}=x; Max-Age=600; Path=/; HttpOnly; Secure; SameSite=Lax`);
  expect(cookie.clear(name, callback)).toBe(`${name}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax`);
});

test('the cookie of a sign-in without https is limited to the path of the callback', () => {
  const callback = new URL('http://127.0.0.1:4100/api/v1/auth/oidc/callback');
  const name = cookie.nameOf('0123456789abcdef', callback);
  expect(cookie.set(name, 'x', callback)).toBe(
    `hub-sign-in-0123456789ab=x; Max-Age=600; Path=${callback.pathname}; HttpOnly; SameSite=Lax`,
  );
});
