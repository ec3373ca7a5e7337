/** A request to an API server. The body of the response is JSON, or text for logs. */
export type Call = (
  method: string,
  path: string,
  body?: object,
  type?: string,
  // biome-ignore lint/suspicious/noExplicitAny: tests assert the members of objects that they use
) => Promise<{ readonly status: number; readonly body: any }>;

export declare function callerOf(to: { readonly server: string; readonly ca: string; readonly token: string }): Call;
