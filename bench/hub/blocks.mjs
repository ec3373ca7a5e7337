// How long the event loop of a hub was blocked.
import { sendOnce } from '../shared/client.mjs';

/** The resolution of the delays of the event loop in the metrics, which they include. */
const DELAY_RESOLUTION_MS = 10;

/** The longest delay of the event loop of a hub since the previous call, in milliseconds. */
export async function longestBlock({ url }) {
  const metrics = `${(await sendOnce(url, { path: '/metrics' })).body}`;
  const [, value] = /^nodejs_eventloop_lag_max_seconds ([\d.e-]+)$/m.exec(metrics) ?? [];
  return 1000 * Number(value) - DELAY_RESOLUTION_MS;
}
