/** The names of the parameters in a pattern such as `/templates/:slug`. */
export type ParamsOf<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name | keyof ParamsOf<`/${Rest}`>]: string }
  : P extends `${string}:${infer Name}`
    ? { readonly [K in Name]: string }
    : Record<never, never>;

type Search = Readonly<Record<string, string | number | undefined>>;

/** The address of a page. A missing or an unknown parameter does not compile. */
export function href<P extends string>(
  pattern: P,
  ...[params, search]: keyof ParamsOf<P> extends never
    ? [params?: undefined, search?: Search]
    : [params: ParamsOf<P>, search?: Search]
): string {
  const given: Readonly<Record<string, string>> = params ?? {};
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(given[name] ?? ''));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(search ?? {})) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Whether a text is the URL of a web page. Other URLs, such as those with a script, must not become links. */
export const isWebUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
