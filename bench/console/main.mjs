// Do the consoles keep their budgets, and what do open consoles cost a fleet?
//
//   pnpm bench:console [--runs <default 5>] [--browsers <default 100>] [--seconds <default 30>]
//                      [--only pages,interactions,live] [--record]
//
// Method: the product runs as `npm start` starts it, with simulated hosts and 10,000 deployments.
//
// - Pages and interactions run in Chromium, whose main thread is slowed down four times. Each load
//   has an empty cache. A page is interactive when its content is shown and its main thread is
//   free. The duration of an interaction is that of its slowest event, from the input to the next
//   frame (Event Timing); of scrolling, the longest time between two frames.
// - Live cost: a real browser shows each view for some seconds while one deployment per second
//   changes, and its requests are recorded. Then simulated browsers, each with a session and a
//   stream of its own, repeat these requests, while the deployments change as before. The CPU time
//   of the fleet and of PostgreSQL is compared with that without browsers. Meanwhile a real browser
//   measures after which time it shows a change. The part fails if a request fails, or if a stream
//   ends.
import { parseArgs } from 'node:util';
import { createReport } from '../shared/report.mjs';
import { startBrowser } from './browser.mjs';
import { CPUS_PER_HOST, fillFleet, fillHub, HOSTS, insertDeployments } from './demo.mjs';
import { measureLive } from './live.mjs';
import { measurePages } from './pages.mjs';
import { startProduct } from './product.mjs';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    browsers: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '30' },
    only: { type: 'string', default: 'pages,interactions,live' },
    record: { type: 'boolean', default: false },
  },
});
const runs = Number(values.runs);
const browsers = Number(values.browsers);
const seconds = Number(values.seconds);
const DEPLOYMENTS = 10_000;

const { report, end } = createReport();
const product = await startProduct({ hosts: HOSTS, cpus: CPUS_PER_HOST });
let browser;
try {
  const demo = await fillFleet(product);
  await fillHub(product);
  await insertDeployments(product, DEPLOYMENTS);
  browser = await startBrowser();
  if (/pages|interactions/.test(values.only)) {
    await measurePages({ product, browser, demo, runs, only: values.only, report });
  }
  if (values.only.includes('live')) await measureLive({ product, browser, demo, browsers, seconds, report });
} finally {
  await browser?.close();
  await product.stop();
}
end(values.record ? { what: 'console', variant: `${browsers}` } : undefined, { runs, browsers, seconds });
