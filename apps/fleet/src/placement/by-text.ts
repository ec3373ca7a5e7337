/** Orders texts the same way on every machine, whatever its language. */
export const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
