// How the phases of the bench of the fleet print times and costs.

/** Formats a number of milliseconds. */
export const ms = (number) => `${number.toFixed(number < 10 ? 1 : 0)} ms`;

/** Formats a number of milliseconds in seconds. */
export const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;

/** The costs of `cpuDuring`, each formatted by `each`. */
export const partsOf = ({ cpu, withDatabase }, each) =>
  `fleet ${each(cpu)}, PostgreSQL ${each(withDatabase - cpu)}, together ${each(withDatabase)}`;
