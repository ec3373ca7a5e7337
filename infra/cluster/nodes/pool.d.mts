export declare function quantity(text: string | number): number;
export declare function podsForNewNodes(
  pool: {
    readonly capacity: Readonly<Record<string, string>>;
    readonly labels: Readonly<Record<string, string>>;
    readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
    readonly max: number;
  },
  nodes: readonly object[],
  pods: readonly object[],
): { readonly metadata: { readonly name: string } }[][];
export declare function emptyNodes(nodes: readonly object[], pods: readonly object[]): string[];
