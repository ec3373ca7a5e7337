interface Account {
  readonly email: string;
  readonly password: string;
}

/**
 * Signs in at the development identity provider as a user with a browser does.
 * @returns the URL of the callback
 */
export async function signInByBrowser(start: URL, backTo: string, account: Account): Promise<URL> {
  const visit = aBrowser(backTo);
  const page = await visit(start);
  if (page.isBack) return page.url;
  const [, form = ''] = page.text.split('<form', 2);
  const action = /\saction="([^"]*)"/.exec(form.split('>', 1)[0] ?? '')?.[1];
  if (action === undefined) throw new Error(`no sign-in form at ${page.url}`);
  const end = await visit(new URL(action || page.url, page.url), new URLSearchParams({ ...account }));
  if (!end.isBack) throw new Error(`the sign-in ended at ${end.url}`);
  return end.url;
}

/** Follows redirects with the cookies of one site, up to the callback. */
function aBrowser(backTo: string) {
  const cookies = new Map<string, string>();
  return async (start: URL, form?: URLSearchParams) => {
    let url = start;
    let init: RequestInit = form ? { method: 'POST', body: form } : {};
    for (let hops = 0; hops < 10; hops++) {
      const answer = await fetch(url, { ...init, redirect: 'manual', headers: { cookie: headerOf(cookies) } });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const location = answer.headers.get('location');
      if (location === null) return { url, text: await answer.text(), isBack: false };
      url = new URL(location, url);
      if (url.href.startsWith(backTo)) return { url, text: '', isBack: true };
      init = {};
    }
    throw new Error(`too many redirects, the last to ${url}`);
  };
}

const headerOf = (cookies: ReadonlyMap<string, string>) =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
