import { type DialOptions, dial, type Log, type PeriodicTask, readBody, runPeriodically } from '@svc/http';
import type { Database } from '../database/client.ts';
import { typeOfImage } from './image.ts';
import { deleteUnusedIcons, type Image, storeIcon, takeRequestedIcon } from './store.ts';

/** The maximum size of an icon, in bytes. */
const MAX_BYTES = 64 * 1024;
/** The maximum duration of a fetch, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** The pause between two looks for requested icons, in milliseconds. */
const PAUSE_MS = 5000;
const DAY_MS = 86_400_000;

type Allowed = NonNullable<DialOptions['restrictTo']>;

interface Options {
  readonly database: Pick<Database, 'client'>;
  readonly log: Log;
  /** What is allowed beside https to public addresses. */
  readonly restrictTo?: Allowed;
}

/** Fetches the icons that writes of the catalog have requested, in the background. */
export function startIconFetching(options: Options): PeriodicTask {
  const { database, log } = options;
  let deletedAt = Number.NEGATIVE_INFINITY;
  return runPeriodically(PAUSE_MS, async (stopped) => {
    try {
      while (!stopped.aborted && (await fetchNextIcon(options))) {
        // Each fetch looks for the next requested icon.
      }
      if (performance.now() - deletedAt > DAY_MS) {
        await deleteUnusedIcons(database.client);
        deletedAt = performance.now();
      }
    } catch (error) {
      log.warn({ err: error }, 'fetching icons failed; will retry');
    }
    return PAUSE_MS;
  });
}

/** Fetches a requested icon. A failure is logged. @returns whether there was one */
export async function fetchNextIcon({ database: { client }, log, restrictTo = new Set() }: Options): Promise<boolean> {
  const requested = await takeRequestedIcon(client);
  if (!requested) return false;
  let image: Image;
  try {
    image = await fetchImage(new URL(requested.url.trim()), restrictTo);
  } catch (error) {
    log.info({ slug: requested.slug, err: error }, 'the icon of a template could not be fetched');
    return true;
  }
  await storeIcon(client, requested, image);
  return true;
}

/** @throws an error that states why the URL gives no icon */
async function fetchImage(url: URL, restrictTo: Allowed): Promise<Image> {
  const connection = dial({ target: new URL(url.origin), restrictTo });
  try {
    const { status, body } = await connection.exchange({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: { accept: 'image/png, image/jpeg, image/webp' },
      idleMs: TIMEOUT_MS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (status !== 200) throw new Error(`the response has the status ${status}; redirects are not followed`);
    const tooLong = () => new Error(`the file has more than ${MAX_BYTES} bytes`);
    const data = await readBody(body, { maxBytes: MAX_BYTES, tooLong });
    return { data: new Uint8Array(data), type: typeOfImage(data) };
  } finally {
    await connection.close();
  }
}
