/** What is so of a resource, or not, and since when: as a column of JSON has it. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly at: string;
}

/** Conditions as the API shows them. */
export const presentConditions = (conditions: readonly Condition[]) =>
  conditions.map(({ at, ...condition }) => ({ ...condition, at: new Date(at) }));
