export declare function mirroredImage(image: string): string;
export declare function review(
  name: string,
  labels: Readonly<Record<string, string>>,
  request: { readonly uid: string; readonly object: object },
): {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly message: string };
  readonly patch?: string;
};
