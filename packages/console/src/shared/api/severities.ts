/** The severities of advisories, ascending. */
export const severities = ['note', 'warning', 'critical'] as const;

/** A severity in an address, as a filter; undefined if it is none. */
export const severityOf = (value: unknown): (typeof severities)[number] | undefined =>
  severities.find((severity) => severity === value);

const ranked: readonly unknown[] = severities;

/** Whether a severity is at least another one. One of a later version of the hub is below all. */
export const isAtLeast = (severity: unknown, least: string): boolean =>
  ranked.indexOf(severity) >= ranked.indexOf(least);
