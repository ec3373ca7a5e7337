// What open consoles cost a fleet while deployments change, and how fast they show a change.
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { atMost } from '../shared/report.mjs';
import { median, p99, percent } from '../shared/statistics.mjs';
import { settle, signIn } from './browser.mjs';

const GOALS = { share: 0.1, seconds: 2 };
const CHANGES_PER_SECOND = 1;
const SAMPLES = 50;
const PASSWORD = 'correct horse battery staple';

export async function measureLive({ product, browser, demo, browsers, seconds, report }) {
  const views = [
    { name: 'overview', path: '/', share: 0.3 },
    { name: 'deployments', path: '/deployments', share: 0.3 },
    { name: 'deployments with problems', path: '/deployments?phase=failed,degraded,retrying', share: 0.1 },
    { name: 'a deployment', path: `/deployments/${demo.deployments['shop-web']}`, share: 0.2 },
    { name: 'hosts', path: '/hosts', share: 0.1 },
  ];
  const changes = startChanges(product);
  let clients = [];
  try {
    for (const view of views) {
      Object.assign(view, await record(browser, product.fleet + view.path, seconds));
      report(`${view.name}: ${(view.requests.length / seconds).toFixed(2)} requests per second of a browser`);
    }
    const without = await shareDuring(product, seconds);
    report(`without browsers: fleet ${percent(without.fleet)} of a core, PostgreSQL ${percent(without.database)}`);
    const owners = views.flatMap((view) => Array(Math.round(view.share * browsers)).fill(view));
    clients = await openClients(product, owners);
    await delay(2000);
    const repeat = () => Promise.all(clients.map((client) => client.repeat(seconds)));
    const [open] = await Promise.all([shareDuring(product, seconds), repeat()]);
    const failures = clients.flatMap((client) => client.failures);
    const events = clients.reduce((sum, client) => sum + client.events(), 0);
    const added = open.fleet - without.fleet + open.database - without.database;
    report(
      `${clients.length} browsers: fleet ${percent(open.fleet)} of a core, PostgreSQL ${percent(open.database)}; together ` +
        `${percent(added)} more than without, with ${events} events and ${failures.length} failed requests${failures.length > 0 ? `, such as ${failures[0]}` : ''}`,
      failures.length > 0 ? 'fail' : atMost(added, GOALS.share),
    );
    // There are more changes than before.
    const [times] = await Promise.all([measureDelays(product, browser), repeat()]);
    report(
      `a change is shown after ${Math.round(median(times))} ms (median of ${times.length}), p99 ${Math.round(p99(times))} ms`,
      atMost(p99(times) / 1000, GOALS.seconds),
    );
  } finally {
    for (const client of clients) client.close();
    await changes.stop();
  }
}

/**
 * Changes the phase of one deployment per second. Every other one is among those that lists show
 * first.
 */
function startChanges({ query }) {
  let isStopped = false;
  const run = async () => {
    for (let count = 0; !isStopped; count += 1) {
      const number = count % 2 === 0 ? count % 50 : (count * 7919) % 10_000;
      await query(
        'fleet',
        `UPDATE deployments SET phase = CASE phase WHEN 'running' THEN 'degraded' ELSE 'running' END, message = $1
         WHERE name = 'app-' || lpad($2::text, 5, '0')`,
        [`Change ${count}.`, `${number}`],
      );
      await delay(1000 / CHANGES_PER_SECOND);
    }
  };
  const running = run();
  return {
    stop: () => {
      isStopped = true;
      return running;
    },
  };
}

/**
 * The requests of a browser that shows a view: the path of its stream, and the paths and times of
 * the others.
 */
async function record(browser, url, seconds) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const { origin, pathname, search } = new URL(url);
  const isStream = (path) => path === '/api/v1/changes';
  let stream;
  page.on('request', (request) => {
    const { pathname: path, search: query } = new URL(request.url());
    if (isStream(path)) stream = path + query;
  });
  await signIn(page, origin, { at: pathname + search });
  await page.waitForTimeout(3000);
  const requests = [];
  const start = performance.now();
  page.on('request', (request) => {
    const { pathname: path, search: query } = new URL(request.url());
    if (path.startsWith('/api/') && !isStream(path))
      requests.push({ at: performance.now() - start, path: path + query });
  });
  await page.waitForTimeout(seconds * 1000);
  await context.close();
  return { requests, stream };
}

async function shareDuring({ cpu, databaseCpu }, seconds) {
  const fleet = cpu('fleet');
  const database = databaseCpu();
  const start = performance.now();
  await delay(seconds * 1000);
  const elapsed = performance.now() - start;
  return { fleet: (cpu('fleet') - fleet) / elapsed, database: (databaseCpu() - database) / elapsed };
}

/** Signs in a user for each view, and opens a stream. */
async function openClients(product, owners) {
  const { ask, fleet } = product;
  const emails = [];
  for (const index of owners.keys()) {
    const email = `browser-${index}@example.test`;
    await ask('fleet', 'POST', '/users', { email, role: 'operator', password: PASSWORD });
    emails.push(email);
  }
  const clients = [];
  for (const [index, view] of owners.entries()) {
    clients.push(await openClient({ fleet, email: emails[index], ...view }));
  }
  return clients;
}

async function openClient({ fleet, email, requests, stream: streamPath }) {
  const { hostname, port } = new URL(fleet);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 5 });
  const common = {
    'sec-fetch-site': 'same-origin',
    'accept-encoding': 'gzip, deflate, br', // as browsers
    accept: 'application/json',
    origin: fleet,
    'user-agent': 'bench',
  };
  let cookie = '';
  const failures = [];
  let events = 0;
  const send = (method, path, { body, headers = {}, from = agent } = {}) =>
    new Promise((resolve, reject) => {
      const text = body && JSON.stringify(body);
      const type = text ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } : {};
      http
        .request(
          { hostname, port, method, path, agent: from, headers: { ...common, cookie, ...type, ...headers } },
          resolve,
        )
        .on('error', reject)
        .end(text);
    });
  const signedIn = await send('POST', '/api/v1/auth/session', { body: { email, password: PASSWORD } });
  signedIn.resume();
  if (signedIn.statusCode !== 200) throw new Error(`the sign-in of ${email} was answered with ${signedIn.statusCode}`);
  cookie = (signedIn.headers['set-cookie'] ?? []).map((each) => each.split(';', 1)[0]).join('; ');
  const stream = await send('GET', streamPath, { headers: { accept: 'text/event-stream' }, from: false });
  if (stream.statusCode !== 200) throw new Error(`a stream was answered with ${stream.statusCode}`);
  let isClosing = false;
  stream.on('data', (chunk) => (events += String(chunk).split('event: change\n').length - 1));
  stream.on('error', () => undefined); // it is followed by `close`
  stream.on('close', () => isClosing || failures.push(`${streamPath}: the stream has ended`));
  const get = async (path) => {
    const response = await send('GET', path).catch((error) => error);
    if (response.statusCode !== 200) failures.push(`${path}: ${response.statusCode ?? response.message}`);
    response.resume?.();
  };
  return {
    failures,
    events: () => events,
    /** Repeats the recorded requests, from a random moment of the recording. */
    repeat: async (seconds) => {
      const duration = seconds * 1000;
      const shift = Math.random() * duration;
      const start = performance.now();
      const planned = requests
        .map(({ at, path }) => ({ at: (at + shift) % duration, path }))
        .toSorted((one, other) => one.at - other.at);
      for (const { at, path } of planned) {
        await delay(Math.max(0, start + at - performance.now()));
        void get(path);
      }
    },
    close: () => {
      isClosing = true;
      stream.destroy();
      agent.destroy();
    },
  };
}

/** Changes a deployment that a page shows, and measures until the page shows it. */
async function measureDelays({ fleet, query }, browser) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await signIn(page, fleet, { at: '/deployments?search=app-000&sort=name' });
  await page.getByRole('link', { name: 'app-00003' }).waitFor();
  await settle(page);
  const times = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const message = `Sample ${sample}.`;
    const start = performance.now();
    await query('fleet', `UPDATE deployments SET message = $1 WHERE name = 'app-00003'`, [message]);
    await page.getByText(message).waitFor();
    times.push(performance.now() - start);
    await delay(Math.random() * 400);
  }
  await context.close();
  return times;
}
