const severities = ['note', 'warning', 'critical'] as const;

/** A severity in an address, as a filter; undefined if it is none. */
export const severityOf = (value: string): (typeof severities)[number] | undefined =>
  severities.find((severity) => severity === value);
