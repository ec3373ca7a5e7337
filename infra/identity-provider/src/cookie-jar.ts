type Cookie = { name: string; value: string; path: string };

/** The cookies of one site, kept by name and path as a browser keeps them. Knows no domain: it serves one issuer. */
export class CookieJar {
  readonly #cookies = new Map<string, Cookie>();

  store(response: Response) {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const [name = '', ...value] = pair.split('=');
      const attribute = (wanted: string) =>
        attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
      const path = attribute('path') ?? '/';
      const expires = attribute('expires');
      const key = `${name} ${path}`;
      if (expires !== undefined && Date.parse(expires) <= Date.now()) this.#cookies.delete(key);
      else this.#cookies.set(key, { name, value: value.join('='), path });
    }
  }

  /** The Cookie header for a request to `url`. */
  headerFor(url: URL) {
    return [...this.#cookies.values()]
      .filter(({ path }) => url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
  }
}
