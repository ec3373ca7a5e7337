import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, type Provider } from 'oidc-provider';
import { pages } from './pages.ts';
import { findUserByEmail } from './users.ts';

const maxFormBytes = 8192;

/** Handles `/interaction/:uid`, to which the provider redirects a browser without a session. */
export function interactions(provider: Provider, password: string) {
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    try {
      const { prompt, params } = await provider.interactionDetails(req, res);
      if (prompt.name === 'consent') return await provider.interactionFinished(req, res, { consent: {} });
      if (req.method !== 'POST') {
        return send(res, 200, pages.signIn({ email: typeof params.login_hint === 'string' ? params.login_hint : '' }));
      }
      const form = new URLSearchParams(await readForm(req));
      const email = form.get('email') ?? '';
      const user = findUserByEmail(email);
      if (user === undefined || form.get('password') !== password) {
        return send(res, 401, pages.signIn({ email, problem: 'The e-mail or the password is incorrect.' }));
      }
      await provider.interactionFinished(req, res, { login: { accountId: user.sub } });
    } catch (error) {
      if (!(error instanceof errors.SessionNotFound)) throw error;
      send(res, 400, pages.problem(['This sign-in has expired or was started in another browser. Start it again.']));
    }
  };
}

function send(res: ServerResponse, status: number, html: string) {
  res.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  });
  res.end(html);
}

async function readForm(req: IncomingMessage) {
  let form = '';
  for await (const chunk of req.setEncoding('utf8')) {
    form += chunk;
    if (form.length > maxFormBytes) break; // a truncated form fails like an incorrect password
  }
  return form;
}
