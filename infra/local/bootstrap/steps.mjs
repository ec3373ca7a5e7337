/** After this time without the end of a step, and again after each such time, a line says that the step continues. */
const REPORT_MS = 8000;

/**
 * Prints a line with the duration of a step when it ends, and before that at least every eight seconds that it
 * continues.
 * @param title what the step does, such as "starting PostgreSQL"
 * @returns the result of `work`
 */
export async function step(title, work) {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const report = setInterval(() => console.log(`${title}: not complete after ${Math.round(seconds())} s`), REPORT_MS);
  try {
    const result = await work();
    console.log(`${title}: ${seconds().toFixed(1)} s`);
    return result;
  } finally {
    clearInterval(report);
  }
}
