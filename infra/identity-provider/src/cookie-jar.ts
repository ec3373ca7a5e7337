type Cookie = { name: string; value: string; path: string };

/** The cookies of one site, by name and path. Domains are not supported, because there is only one issuer. */
export class CookieJar {
  readonly #cookies = new Map<string, Cookie>();

  store(response: Response) {
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const [name = '', ...value] = pair.split('=');
      const attribute = (name: string) =>
        attributes.find((one) => one.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
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
