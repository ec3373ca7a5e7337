/** Prints a measurement when FAULT_FIGURES is set: figures are read by people, never asserted. */
export function figure(line: string): void {
  if (process.env.FAULT_FIGURES) process.stderr.write(`${line}\n`);
}
